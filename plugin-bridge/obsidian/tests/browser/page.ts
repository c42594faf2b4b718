/**
 * What runs in the browser's page: the stand-in of the app, and `require` for the release main.js. Node's `net` and files are
 * reached over functions that the test exposes; what goes over them are the real bytes.
 */

import '../app/setup';
import * as obsidian from '../app/obsidian';
import { Window } from '../app/harness';

type Listener = (...args: unknown[]) => void;

interface Bridge {
  nodeConnect: (id: number, options: object) => Promise<void>;
  nodeWrite: (id: number, text: string) => Promise<void>;
  nodeDestroy: (id: number) => Promise<void>;
  nodeRead: (path: string) => Promise<string | null>;
}

const node = window as unknown as Bridge;
const sockets = new Map<number, Socket>();

class Socket {
  private readonly listeners = new Map<string, Listener[]>();
  destroyed = false;

  constructor(readonly id: number) {}

  on(event: string, listener: Listener): this {
    this.listeners.set(event, [...(this.listeners.get(event) ?? []), listener]);
    return this;
  }

  once(event: string, listener: Listener): this {
    const first: Listener = (...args) => {
      this.off(event, first);
      listener(...args);
    };
    return this.on(event, first);
  }

  off(event: string, listener: Listener): this {
    this.listeners.set(event, (this.listeners.get(event) ?? []).filter((one) => one !== listener));
    return this;
  }

  emit(event: string, ...args: unknown[]): void {
    for (const listener of this.listeners.get(event) ?? []) listener(...args);
  }

  write(text: string): boolean {
    void node.nodeWrite(this.id, text);
    return true;
  }

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    void node.nodeDestroy(this.id);
  }
}

const modules: Record<string, unknown> = {
  obsidian,
  net: {
    connect: (options: object) => {
      const socket = new Socket(sockets.size + 1);
      sockets.set(socket.id, socket);
      void node.nodeConnect(socket.id, options);
      return socket;
    },
  },
  'fs/promises': {
    readFile: async (path: string) => {
      const text = await node.nodeRead(path);
      if (text === null) throw new Error('ENOENT');
      return text;
    },
    stat: () => Promise.reject(new Error('ENOENT')),
    open: () => Promise.reject(new Error('ENOENT')),
  },
  os: { homedir: () => '/home/ada' },
  child_process: {
    execFile: (_: string, __: string[], ___: object, done: Listener) => done({ code: 'ENOENT' }, '', ''),
  },
};

function socketEvent(id: number, event: string, data: string): void {
  const socket = sockets.get(id);
  if (event === 'data') socket?.emit('data', Uint8Array.from(atob(data), (char) => char.charCodeAt(0)));
  else if (event === 'error') socket?.emit('error', Object.assign(new Error(data), { code: data }));
  else socket?.emit(event);
}

async function start(code: string, root: string, notes: Record<string, string>, env: object, data: object): Promise<void> {
  Object.assign(window, { process: { env } });
  const module = { exports: {} as { default?: unknown } };
  const require = (name: string): unknown => {
    if (!(name in modules)) throw new Error(`main.js asks for ${name}`);
    return modules[name];
  };
  // As the app does it.
  new Function('require', 'module', 'exports', code)(require, module, module.exports);
  const app = new Window({ root, notes });
  Object.assign(window, { theApp: app, theNotices: obsidian.notices });
  await app.load((module.exports.default ?? module.exports) as never, data);
}

Object.assign(window, { socketEvent, startPlugin: start });
