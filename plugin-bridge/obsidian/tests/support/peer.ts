/** A scripted peer on a real socket, for faults only: it answers what a test tells it to, or nothing, or rubbish. */

import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Address } from '../../src/connection/address';
import { Connection, type ConnectionOptions } from '../../src/connection/connection';

export interface Request {
  id?: number;
  method: string;
  params: Record<string, unknown>;
}

export type Answerer = (request: Request, peer: Peer, socket: net.Socket) => void;

export const WELCOME = {
  name: 'vaultrag',
  version: '0.0.0',
  protocol: 1,
  pid: 4711,
  vault: 'notes',
  vaults: ['notes'],
  methods: ['hello', 'search'],
  positions: 'utf-16',
};

export class Peer {
  readonly heard: Request[] = [];
  readonly sockets: net.Socket[] = [];

  private constructor(
    private readonly folder: string,
    private readonly server: net.Server,
    public answer: Answerer,
  ) {}

  static async listen(answer: Answerer): Promise<Peer> {
    const folder = await mkdtemp(path.join(tmpdir(), 'vp-'));
    const server = net.createServer();
    const peer = new Peer(folder, server, answer);
    server.on('connection', (socket) => peer.serve(socket));
    await new Promise<void>((resolve) => server.listen(peer.path, resolve));
    return peer;
  }

  get path(): string {
    return path.join(this.folder, 'p.sock');
  }

  get address(): Address {
    return { to: { path: this.path }, tokenFile: '', source: 'a test' };
  }

  connection(options: Partial<ConnectionOptions> = {}): Connection {
    return new Connection({
      find: () => Promise.resolve([this.address]),
      readToken: () => Promise.resolve(null),
      vault: '/notes',
      client: 'test/1',
      platform: process.platform,
      firstPauseMs: 20,
      lastPauseMs: 100,
      ...options,
    });
  }

  calls(method: string): Request[] {
    return this.heard.filter((request) => request.method === method);
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
    await rm(this.folder, { recursive: true, force: true });
  }

  private serve(socket: net.Socket): void {
    this.sockets.push(socket);
    let rest = '';
    socket.on('error', () => undefined);
    socket.on('data', (data: Buffer) => {
      const lines = (rest + data.toString()).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const request = JSON.parse(line) as Request;
        this.heard.push(request);
        this.answer(request, this, socket);
      }
    });
  }
}

export function result(socket: net.Socket, id: number | undefined, value: unknown): void {
  if (id === undefined) return; // a notification has no answer
  socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: value })}\n`);
}

export function failure(socket: net.Socket, id: number | undefined, kind: string, more: object = {}): void {
  const error = { code: -32000, message: `refused: ${kind}`, data: { kind, hint: 'try this', ...more } };
  socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`);
}

/** Says hello as the daemon does; `then` answers the rest. */
export function greeting(then: Answerer = () => undefined): Answerer {
  return (request, peer, socket) => {
    if (request.method === 'hello') result(socket, request.id, WELCOME);
    else then(request, peer, socket);
  };
}

export function answerTo(query: unknown): object {
  return { query, state: 'full', hits: [], nearest: [], tier: 'none', reasons: [], mode: 'hybrid', total: 0, elapsed_ms: 1 };
}
