/**
 * One open socket that speaks the protocol: calls with their answers, cancellation, notifications, and a watch on
 * silence. It ends once, with a reason; all calls under way are rejected then. Reconnecting is `Connection`'s business.
 */

import { connect, type Socket } from 'net';
import type { Answer, Methods } from '../../../protocol/protocol';
import type { Address } from './address';
import { Failure, unreachable } from './failures';
import { Lines } from './lines';
import { callLine, cancelLine, isRecord, readLine, type Message, type MethodName } from './wire';

/** A call is waited for so long with no byte coming at all; then the daemon is asked whether it is there. */
export const QUIET_MS = 5_000;

export interface CallOptions {
  signal?: AbortSignal;
  onPartial?: (answer: Answer) => void;
}

interface Pending {
  resolve: (result: unknown) => void;
  reject: (failure: Failure) => void;
  onPartial: ((answer: Answer) => void) | undefined;
}

export interface ChannelEvents {
  onNotification: (method: string, params: Record<string, unknown>) => void;
  onEnd: (failure: Failure) => void;
}

export class Channel {
  private readonly lines = new Lines();
  private readonly pending = new Map<number, Pending>();
  private nextId = 0;
  private ended: Failure | null = null;
  private heardAt = Date.now();
  private asked = false;
  private watch: number | null = null;

  private constructor(
    private readonly socket: Socket,
    private readonly events: ChannelEvents,
    private readonly quietMs: number,
  ) {
    socket.on('data', (chunk: Uint8Array) => this.receive(chunk));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.end(new Failure('ConnectionLost', `the connection broke (${error.code ?? error.message})`));
    });
    socket.on('close', () => this.end(new Failure('ConnectionLost', 'the daemon has closed the connection')));
  }

  /** Open a socket. Rejects with a `Failure` of kind `Offline`, whose data has Node's `code`. */
  static open(address: Address, events: ChannelEvents, timeoutMs: number, quietMs = QUIET_MS): Promise<Channel> {
    return new Promise((resolve, reject) => {
      const { to } = address;
      const path = 'path' in to ? to.path : `127.0.0.1:${to.port}`;
      const socket = 'path' in to ? connect({ path: to.path }) : connect({ host: '127.0.0.1', port: to.port });
      const timer = window.setTimeout(() => fail('ETIMEDOUT'), timeoutMs);
      const fail = (code: string): void => {
        window.clearTimeout(timer);
        socket.destroy();
        reject(new Failure('Offline', unreachable(code, path), '', { code, path }));
      };
      socket.on('error', onError);
      socket.once('connect', () => {
        window.clearTimeout(timer);
        socket.off('error', onError);
        resolve(new Channel(socket, events, quietMs));
      });
      function onError(error: NodeJS.ErrnoException): void {
        fail(error.code ?? '');
      }
    });
  }

  call<M extends MethodName>(
    method: M,
    params: Methods[M]['params'],
    options: CallOptions = {},
  ): Promise<Methods[M]['result']> {
    const { signal, onPartial } = options;
    if (this.ended) return Promise.reject(this.ended);
    if (signal?.aborted) return Promise.reject(aborted());
    const id = ++this.nextId;
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        // The daemon answers a cancelled call all the same; that answer finds nobody here.
        if (this.pending.delete(id)) this.socket.write(cancelLine(id));
        reject(aborted());
      };
      const done = (): void => signal?.removeEventListener('abort', giveUp);
      signal?.addEventListener('abort', giveUp, { once: true });
      this.pending.set(id, {
        resolve: (result) => {
          done();
          resolve(result as Methods[M]['result']);
        },
        reject: (failure) => {
          done();
          reject(failure);
        },
        onPartial,
      });
      this.socket.write(callLine(id, method, params));
      this.listen();
    });
  }

  close(failure = new Failure('Closed', 'the connection was closed')): void {
    this.end(failure);
  }

  private receive(chunk: Uint8Array): void {
    this.heardAt = Date.now();
    this.asked = false;
    try {
      for (const line of this.lines.feed(chunk)) this.take(readLine(line));
    } catch (error) {
      this.end(error instanceof Failure ? error : new Failure('InvalidRequest', String(error)));
    }
  }

  private take(message: Message): void {
    if (message.type === 'notification') {
      if (message.method === 'search/partial') this.takePartial(message.params);
      else this.events.onNotification(message.method, message.params);
      return;
    }
    if (message.id === null) {
      // An error about the connection as a whole: too many clients, a line too long.
      if (message.type === 'failure') this.end(message.failure);
      return;
    }
    const call = this.pending.get(message.id);
    if (!call) return;
    this.pending.delete(message.id);
    if (message.type === 'failure') call.reject(message.failure);
    else call.resolve(message.result);
  }

  private takePartial(params: Record<string, unknown>): void {
    const call = typeof params.id === 'number' ? this.pending.get(params.id) : undefined;
    if (call?.onPartial && isRecord(params.answer)) call.onPartial(params.answer as unknown as Answer);
  }

  /**
   * Watch for silence while a call is under way. A model may take its time, but the daemon answers `status` at once: one
   * that says nothing to that either is gone, even if its socket is not.
   */
  private listen(): void {
    if (this.watch !== null) return;
    this.heardAt = Date.now();
    this.watch = window.setInterval(() => {
      if (this.pending.size === 0) this.stopWatch();
      else if (Date.now() - this.heardAt < this.quietMs) return;
      else if (this.asked) this.end(new Failure('Silent', 'the daemon does not answer any more', 'vaultrag status'));
      else {
        this.asked = true;
        this.heardAt = Date.now();
        void this.call('status', {}).catch(() => undefined);
      }
    }, this.quietMs / 4);
  }

  private stopWatch(): void {
    if (this.watch !== null) window.clearInterval(this.watch);
    this.watch = null;
    this.asked = false;
  }

  private end(failure: Failure): void {
    if (this.ended) return;
    this.ended = failure;
    this.stopWatch();
    this.socket.destroy();
    const calls = [...this.pending.values()];
    this.pending.clear();
    for (const call of calls) call.reject(failure);
    this.events.onEnd(failure);
  }
}

function aborted(): Failure {
  return new Failure('Aborted', 'the call was given up');
}
