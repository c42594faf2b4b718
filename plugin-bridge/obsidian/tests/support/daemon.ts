/** The real daemon, in a process of its own, with a home and a vault of its own in a short temporary folder. */

import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { addresses, type Surroundings } from '../../src/connection/address';
import { Connection, type ConnectionOptions } from '../../src/connection/connection';

export const REPOSITORY = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../..');
export const PYTHON = process.env.VAULTRAG_PYTHON ?? path.join(REPOSITORY, '.venv/bin/python');

export async function readText(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    return null;
  }
}

/** Look again and again until there is something to see; fails with `what` when time is up. */
export async function until<T>(look: () => T | Promise<T>, what: string, timeoutMs = 20_000): Promise<NonNullable<T>> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export class Home {
  private child: ChildProcess | null = null;
  private log = '';

  private constructor(
    readonly base: string,
    readonly vault: string,
  ) {}

  static async make(notes: Record<string, string>, settings = ''): Promise<Home> {
    if (!existsSync(PYTHON)) throw new Error(`the daemon's Python is not at ${PYTHON}: make .venv/.dev`);
    const base = await mkdtemp(path.join(tmpdir(), 'vp-'));
    const home = new Home(base, path.join(base, 'Notes'));
    await mkdir(path.join(base, 'h'));
    await mkdir(home.vault);
    const config = '[embedder]\nprovider = "off"\n[watch]\ndebounce_ms = 50\n';
    await writeFile(path.join(base, 'h', 'config.toml'), settings || config);
    for (const [name, text] of Object.entries(notes)) await home.write(name, text);
    return home;
  }

  get surroundings(): Surroundings {
    const env = { VAULTRAG_HOME: path.join(this.base, 'h') };
    return { env, platform: process.platform, home: this.base, read: readText };
  }

  get socket(): string {
    return path.join(this.base, 'h', 'run', 'daemon.sock');
  }

  get pid(): number {
    return this.child?.pid ?? 0;
  }

  async write(name: string, text: string): Promise<void> {
    const file = path.join(this.vault, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }

  /** Start the daemon, serving the vault (or nothing), and wait until all of it is read. */
  async start(...vaults: string[]): Promise<void> {
    await this.startModule(['vaultrag', 'serve'], vaults);
  }

  /** The same with another module that runs the daemon. */
  async startModule(module: string[], vaults: string[] = [], timeoutMs = 20_000): Promise<void> {
    const served = vaults.length ? vaults : [this.vault];
    const env = { PATH: process.env.PATH, ...this.surroundings.env, HOME: this.base, PYTHONPATH: REPOSITORY };
    this.child = spawn(PYTHON, ['-m', ...module, ...served.filter(Boolean)], {
      env,
      cwd: this.base,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (data: Buffer) => (this.log += data.toString()));
    this.child.stderr?.on('data', (data: Buffer) => (this.log += data.toString()));
    const probe = this.connection({ vault: served[0] ?? '', firstPauseMs: 20, lastPauseMs: 50 });
    try {
      await until(async () => {
        if (this.child?.exitCode !== null) throw new Error(`the daemon ended\n${this.log}`);
        await probe.wake();
        if (probe.state.kind !== 'ready') return false;
        const status = await probe.call('status', {});
        return status.vaults.every((vault) => vault.state === 'ready');
      }, 'the daemon is ready', timeoutMs);
    } finally {
      probe.close();
    }
  }

  connection(options: Partial<ConnectionOptions> = {}): Connection {
    return new Connection({
      find: () => addresses(this.surroundings, ''),
      readToken: readText,
      vault: this.vault,
      client: 'test/1',
      platform: process.platform,
      firstPauseMs: 30,
      lastPauseMs: 200,
      ...options,
    });
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.child;
    this.child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGCONT');
    child.kill(signal);
    await gone;
  }

  /** Have the process stand still, as a machine asleep does; SIGCONT lets it go on. */
  signal(signal: NodeJS.Signals): void {
    this.child?.kill(signal);
  }

  async remove(): Promise<void> {
    await this.stop();
    await rm(this.base, { recursive: true, force: true });
  }
}
