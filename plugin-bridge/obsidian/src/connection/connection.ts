/**
 * One connection to the daemon a window, shared by all views. It finds the daemon, says hello, comes back after every loss
 * (the daemon restarted or upgraded, the machine slept) more and more slowly, and at once when a person asks.
 */

import type { DaemonStatus, Methods, NotesChanged, Welcome } from '../../../protocol/protocol';
import { PROTOCOL_MAX, PROTOCOL_MIN } from '../../../protocol/protocol';
import { tooLong, type Address } from './address';
import { Channel, QUIET_MS, type CallOptions } from './channel';
import { Failure, failureOf } from './failures';
import { isRecord, type MethodName } from './wire';

export type ConnectionState =
  | { kind: 'idle' }
  | { kind: 'connecting' }
  | { kind: 'ready'; welcome: Welcome }
  | { kind: 'offline'; why: string; hint: string }
  | { kind: 'unserved'; why: string; hint: string }
  | { kind: 'incompatible'; why: string; hint: string }
  | { kind: 'closed' };

export interface ConnectionOptions {
  /** Where the daemon may answer now; asked before each attempt. */
  find: () => Promise<Address[]>;
  /** The secret in a token file. */
  readToken: (path: string) => Promise<string | null>;
  /** The vault's folder. */
  vault: string;
  /** Name and version, for the daemon's log. */
  client: string;
  platform: string;
  /** Times in milliseconds; shorter ones are for tests. */
  openMs?: number;
  helloMs?: number;
  firstPauseMs?: number;
  lastPauseMs?: number;
  quietMs?: number;
  random?: () => number;
}

export type Unsubscribe = () => void;

export class Connection {
  private current: ConnectionState = { kind: 'idle' };
  private channel: Channel | null = null;
  private attempt: Promise<void> | null = null;
  private retry: number | null = null;
  private failures = 0;
  private latest: DaemonStatus | null = null;
  private readonly stateListeners = new Set<(state: ConnectionState) => void>();
  private readonly statusListeners = new Set<(status: DaemonStatus) => void>();
  private readonly notesListeners = new Set<(change: NotesChanged) => void>();

  constructor(private readonly options: ConnectionOptions) {}

  get state(): ConnectionState {
    return this.current;
  }

  /** How the daemon fared when it last said so; null while not connected. */
  get status(): DaemonStatus | null {
    return this.latest;
  }

  onState(listener: (state: ConnectionState) => void): Unsubscribe {
    return subscribed(this.stateListeners, listener);
  }

  onStatus(listener: (status: DaemonStatus) => void): Unsubscribe {
    return subscribed(this.statusListeners, listener);
  }

  onNotes(listener: (change: NotesChanged) => void): Unsubscribe {
    return subscribed(this.notesListeners, listener);
  }

  /** Connect now, whatever pause was planned; resolves when that has been tried. */
  async wake(): Promise<void> {
    if (this.current.kind === 'idle' || this.current.kind === 'offline') this.show({ kind: 'connecting' });
    await this.tryNow();
  }

  /** Call a method; connects first if need be. Rejects with a `Failure`. */
  async call<M extends MethodName>(
    method: M,
    params: Methods[M]['params'],
    options: CallOptions = {},
  ): Promise<Methods[M]['result']> {
    if (this.current.kind !== 'ready') await this.wake();
    if (options.signal?.aborted) throw new Failure('Aborted', 'the call was given up');
    const channel = this.channel;
    if (!channel) throw this.why();
    return channel.call(method, params, options);
  }

  /** Have the daemon serve this window's vault, which it does not yet. */
  async serve(): Promise<void> {
    const { channel, address } = await this.open(() => undefined);
    try {
      await this.greet(channel, address, '');
      await channel.call('add_vault', { path: this.options.vault });
    } finally {
      channel.close();
    }
    await this.wake();
  }

  /** Drop what there is and connect anew: the settings have changed, or a person wants to try again. */
  async restart(): Promise<void> {
    await this.attempt; // it may still go by the old settings
    this.drop(new Failure('Closed', 'connecting anew'));
    this.failures = 0;
    await this.tryNow();
  }

  /** End for good. Nothing is called back afterwards. */
  close(): void {
    this.stopRetry();
    this.show({ kind: 'closed' });
    this.drop(new Failure('Closed', 'the plugin was unloaded'));
    this.stateListeners.clear();
    this.statusListeners.clear();
    this.notesListeners.clear();
  }

  // -- one attempt

  private async tryNow(): Promise<void> {
    if (this.current.kind === 'closed' || this.current.kind === 'ready') return;
    this.stopRetry();
    this.attempt ??= this.connect().finally(() => {
      this.attempt = null;
    });
    await this.attempt;
  }

  private async connect(): Promise<void> {
    let channel: Channel | null = null;
    let ready = false;
    try {
      const opened = await this.open((failure) => this.lost(opened.channel, failure));
      channel = opened.channel;
      const welcome = await this.greet(channel, opened.address, this.options.vault);
      if (this.isClosed()) throw new Failure('Closed', 'the plugin was unloaded');
      this.channel = channel;
      ready = true;
      this.failures = 0;
      this.show({ kind: 'ready', welcome });
      await this.subscribe(channel, welcome);
    } catch (error) {
      const failure = failureOf(error);
      if (!ready) this.failed(failure);
      channel?.close(failure);
    }
  }

  private async open(onEnd: (failure: Failure) => void): Promise<{ channel: Channel; address: Address }> {
    const { find, platform, openMs = 3_000, quietMs = QUIET_MS } = this.options;
    const events = { onNotification: this.notified, onEnd };
    let trouble = new Failure('Offline', 'no daemon is running');
    for (const address of await find()) {
      const long = tooLong(address, platform);
      try {
        if (long) throw new Failure('Offline', long);
        return { channel: await Channel.open(address, events, openMs, quietMs), address };
      } catch (error) {
        const failure = failureOf(error);
        // "Does not exist" is the least that can be said; a refusal or a fault says more.
        if (failure.data.code !== 'ENOENT') trouble = failure;
      }
    }
    throw trouble;
  }

  private async greet(channel: Channel, address: Address, vault: string): Promise<Welcome> {
    const { client, readToken, helloMs = 5_000 } = this.options;
    const token = address.tokenFile ? ((await readToken(address.tokenFile)) ?? '').trim() : '';
    const params = {
      client,
      protocol_min: PROTOCOL_MIN,
      protocol_max: PROTOCOL_MAX,
      vault,
      positions: 'utf-16' as const,
      ...(token ? { token } : {}),
    };
    let welcome: unknown;
    try {
      // A search may follow: the daemon loads its model meanwhile.
      welcome = await within(channel.call('hello', { ...params, searches: true }), helloMs);
    } catch (error) {
      if (failureOf(error).kind !== 'InvalidParams') throw error;
      welcome = await within(channel.call('hello', params), helloMs); // an older daemon
    }
    if (!isRecord(welcome) || welcome.name !== 'vaultrag' || !Array.isArray(welcome.methods)) {
      throw new Failure('InvalidRequest', 'what answers on the socket is not vaultrag');
    }
    const { protocol, positions, version } = welcome;
    if (typeof protocol !== 'number' || protocol < PROTOCOL_MIN || protocol > PROTOCOL_MAX || positions !== 'utf-16') {
      throw new Failure('ProtocolMismatch', `the daemon (vaultrag ${String(version)}) speaks another protocol`);
    }
    return welcome as unknown as Welcome;
  }

  private async subscribe(channel: Channel, welcome: Welcome): Promise<void> {
    if (!welcome.methods.includes('subscribe')) return;
    try {
      const answer = await channel.call('subscribe', {});
      this.tellStatus(answer.status);
    } catch (error) {
      if (failureOf(error).kind !== 'MethodNotFound') throw error;
    }
  }

  // -- what happens to it

  private readonly notified = (method: string, params: Record<string, unknown>): void => {
    if (method === 'status/changed' && isRecord(params.status)) {
      this.tellStatus(params.status as unknown as DaemonStatus);
    } else if (method === 'notes/changed' && Array.isArray(params.paths)) {
      for (const listener of [...this.notesListeners]) listener(params as unknown as NotesChanged);
    }
  };

  private tellStatus(status: DaemonStatus): void {
    if (this.isClosed()) return;
    this.latest = status;
    for (const listener of [...this.statusListeners]) listener(status);
  }

  private lost(channel: Channel, failure: Failure): void {
    if (this.channel !== channel) return;
    this.channel = null;
    this.latest = null;
    if (!this.isClosed()) this.failed(failure);
  }

  private failed(failure: Failure): void {
    if (this.isClosed()) return;
    const { message: why, hint } = failure;
    if (failure.kind === 'ProtocolMismatch') this.show({ kind: 'incompatible', why, hint });
    else if (failure.kind === 'VaultUnknown') this.show({ kind: 'unserved', why, hint });
    else this.show({ kind: 'offline', why, hint });
    this.retrySoon();
  }

  private retrySoon(): void {
    this.stopRetry();
    const { firstPauseMs = 500, lastPauseMs = 30_000, random = Math.random } = this.options;
    const pause = Math.min(lastPauseMs, firstPauseMs * 2 ** Math.min(this.failures, 16));
    this.failures += 1;
    // Half of it by chance, so that many windows do not knock at one moment.
    this.retry = window.setTimeout(() => void this.tryNow(), pause * (0.5 + random() / 2));
  }

  private stopRetry(): void {
    if (this.retry !== null) window.clearTimeout(this.retry);
    this.retry = null;
  }

  private drop(failure: Failure): void {
    const channel = this.channel;
    this.channel = null;
    this.latest = null;
    this.stopRetry();
    if (!this.isClosed()) this.show({ kind: 'connecting' });
    channel?.close(failure);
  }

  private isClosed(): boolean {
    return this.current.kind === 'closed';
  }

  private show(state: ConnectionState): void {
    this.current = state;
    for (const listener of [...this.stateListeners]) listener(state);
  }

  private why(): Failure {
    const state = this.current;
    switch (state.kind) {
      case 'offline':
        return new Failure('Offline', state.why, state.hint);
      case 'unserved':
        return new Failure('VaultUnknown', state.why, state.hint);
      case 'incompatible':
        return new Failure('Incompatible', state.why, state.hint);
      default:
        return new Failure('Closed', 'the connection was closed');
    }
  }
}

function subscribed<T>(listeners: Set<T>, listener: T): Unsubscribe {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = window.setTimeout(() => reject(new Failure('Silent', 'the daemon does not answer')), ms);
    promise.then(resolve, reject).finally(() => window.clearTimeout(timer));
  });
}
