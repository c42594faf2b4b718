/**
 * The daemon as a program: start it, and read the end of its log. It is never installed or updated from here. Programs with
 * a window get a bare PATH, so that the usual places are looked at by their full names.
 */

import { execFile } from 'child_process';
import { open, stat } from 'fs/promises';
import { homedir } from 'os';
import { Failure } from './connection/failures';

const START_MS = 60_000;
const TAIL_BYTES = 16_000;

export function programs(setting: string, platform: string, home = homedir()): string[] {
  if (setting.trim()) return [setting.trim().replace(/^~(?=\/)/, home)];
  if (platform === 'win32') return [`${home}\\.local\\bin\\vaultrag.exe`, 'vaultrag.exe'];
  const folders = [`${home}/.local/bin`, '/opt/homebrew/bin', '/usr/local/bin', '/usr/bin'];
  return [...folders.map((folder) => `${folder}/vaultrag`), 'vaultrag'];
}

/** Have the daemon started, serving this vault; resolves when it does. Rejects with why not, and what helps. */
export async function start(setting: string, platform: string, root: string): Promise<void> {
  const tried = programs(setting, platform);
  for (const program of tried) {
    const result = await run(program, ['up', '--no-wait', root]);
    if (result.kind === 'done') return;
    if (result.kind === 'failed') throw new Failure('DaemonFailed', result.why);
  }
  const where = setting.trim() ? `there is no program ${tried[0] ?? ''}` : 'the program vaultrag was not found';
  throw new Failure('DaemonFailed', `${where}: install it, or say in the settings where it is`, 'pipx install vaultrag');
}

type Outcome = { kind: 'done' } | { kind: 'absent' } | { kind: 'failed'; why: string };

function run(program: string, args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: START_MS, windowsHide: true }, (error, _, stderr) => {
      if (!error) resolve({ kind: 'done' });
      else if (error.code === 'ENOENT') resolve({ kind: 'absent' });
      else resolve({ kind: 'failed', why: lastWords(stderr) || error.message });
    });
  });
}

/** The sentence that a command ended with, without its name before it. */
function lastWords(stderr: string): string {
  const lines = stderr.trim().split('\n');
  const told = lines.filter((line) => line.startsWith('vaultrag: ')).at(-1) ?? lines.at(-1) ?? '';
  return told.replace(/^vaultrag: /, '').trim();
}

/** The last lines of a log; null when there is none. */
export async function tail(path: string, lines = 40): Promise<string | null> {
  try {
    const { size } = await stat(path);
    const file = await open(path, 'r');
    try {
      const start = Math.max(0, size - TAIL_BYTES);
      const buffer = new Uint8Array(size - start);
      await file.read(buffer, 0, buffer.length, start);
      return new TextDecoder().decode(buffer).trimEnd().split('\n').slice(-lines).join('\n');
    } finally {
      await file.close();
    }
  } catch {
    return null;
  }
}
