/**
 * Where the daemon may answer, best guess first: what the environment says, what the user set, what the daemon wrote into
 * its discovery file, and the path that it would choose. Programs with a window get a bare environment, and a sandboxed
 * one another data folder, so the home folder is always looked into as well.
 */

import { isRecord } from './wire';

export interface Address {
  /** A Unix socket (or a named pipe), or a port of 127.0.0.1. */
  to: { path: string } | { port: number };
  /** Holds the secret that goes into `hello`; empty for a socket. */
  tokenFile: string;
  /** Where this comes from, for people. */
  source: string;
}

export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  platform: string;
  home: string;
  /** The text of a file, or null when it cannot be read. */
  read: (path: string) => Promise<string | null>;
}

/** Bytes of a Unix socket's path; Node says only that a longer one does not exist. */
export const PATH_LIMIT: Readonly<Record<string, number>> = { darwin: 103, linux: 107 };

/** The folders that the daemon's own files may lie in. */
export function dataFolders(around: Surroundings): string[] {
  const { env, home, platform } = around;
  if (env.VAULTRAG_HOME) return [join(platform, env.VAULTRAG_HOME, 'data')];
  const bases: string[] = [];
  if (platform === 'win32') {
    bases.push(env.LOCALAPPDATA ?? join(platform, home, 'AppData', 'Local'));
  } else if (platform === 'darwin') {
    bases.push(join(platform, home, 'Library', 'Application Support'));
  } else {
    if (env.XDG_DATA_HOME) bases.push(env.XDG_DATA_HOME);
    bases.push(join(platform, home, '.local', 'share'));
  }
  return [...new Set(bases.map((base) => join(platform, base, 'obsidian-rag')))];
}

export async function addresses(around: Surroundings, setting: string): Promise<Address[]> {
  const found: Address[] = [];
  const add = (path: string | undefined, source: string): void => {
    if (path) found.push({ to: { path: expand(path, around) }, tokenFile: '', source });
  };
  add(around.env.VAULTRAG_SOCKET, 'VAULTRAG_SOCKET');
  add(setting.trim(), 'the settings');
  for (const folder of dataFolders(around)) {
    const file = join(around.platform, folder, 'daemon.json');
    found.push(...fromDiscovery(await around.read(file), file));
  }
  for (const path of guesses(around)) add(path, 'the usual place');
  const seen = new Set<string>();
  return found.filter((address) => {
    const key = JSON.stringify(address.to);
    return !seen.has(key) && seen.add(key);
  });
}

/** What a discovery file says; nothing when it is damaged. */
export function fromDiscovery(text: string | null, source: string): Address[] {
  let table: unknown;
  try {
    table = JSON.parse(text ?? '');
  } catch {
    return [];
  }
  if (!isRecord(table)) return [];
  const sockets = Array.isArray(table.sockets) ? table.sockets : [];
  const found: Address[] = sockets
    .filter((path): path is string => typeof path === 'string' && path !== '')
    .map((path) => ({ to: { path }, tokenFile: '', source }));
  if (typeof table.tcp_port === 'number' && table.tcp_port > 0) {
    const tokenFile = typeof table.token_file === 'string' ? table.token_file : '';
    found.push({ to: { port: table.tcp_port }, tokenFile, source });
  }
  return found;
}

function guesses(around: Surroundings): string[] {
  const { env, platform } = around;
  if (platform === 'win32') return [];
  if (env.VAULTRAG_HOME) return [join(platform, env.VAULTRAG_HOME, 'run', 'daemon.sock')];
  const folders = dataFolders(around).map((folder) => join(platform, folder, 'run'));
  if (env.XDG_RUNTIME_DIR) folders.unshift(join(platform, env.XDG_RUNTIME_DIR, 'vaultrag'));
  return folders.map((folder) => join(platform, folder, 'daemon.sock'));
}

/** Why this path can never be a socket here; empty when it can. */
export function tooLong(address: Address, platform: string): string {
  const limit = PATH_LIMIT[platform];
  if (limit === undefined || !('path' in address.to)) return '';
  const bytes = new TextEncoder().encode(address.to.path).length;
  return bytes > limit ? `the socket's path has ${bytes} bytes, and this system takes ${limit}: ${address.to.path}` : '';
}

function expand(path: string, around: Surroundings): string {
  return path === '~' || path.startsWith('~/') ? around.home + path.slice(1) : path;
}

function join(platform: string, ...parts: string[]): string {
  const separator = platform === 'win32' ? '\\' : '/';
  return parts.map((part, index) => (index < parts.length - 1 ? part.replace(/[\\/]+$/, '') : part)).join(separator);
}
