/** Node's side: builds main.js, opens Debian's Chromium, and joins the page's sockets to real ones. */

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { chromium, type Browser, type Page } from 'playwright-core';
import type { Home } from '../support/daemon';
import { readText } from '../support/daemon';

export const HERE = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
export const ARTEFACTS = path.join(HERE, 'artefacts');

const CHROMIUM = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync']; // prettier-ignore

export async function launch(): Promise<Browser> {
  const executablePath = CHROMIUM.find((one) => one && existsSync(one));
  if (!executablePath) throw new Error('there is no Chromium: on Debian, apt install chromium');
  await mkdir(ARTEFACTS, { recursive: true });
  return chromium.launch({ executablePath, headless: true, args: FLAGS });
}

/** The release build, made as `make plugin` makes it, in a folder of its own. */
export async function releaseCode(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'vp-'));
  try {
    const file = path.join(folder, 'main.js');
    execFileSync(process.execPath, [path.join(HERE, 'esbuild.config.mjs'), file], { cwd: HERE });
    return await readFile(file, 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function pageCode(): Promise<string> {
  const layer = path.join(HERE, 'tests/app/obsidian.ts');
  const built = await build({
    entryPoints: [path.join(HERE, 'tests/browser/page.ts')],
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'error',
    alias: { obsidian: layer },
  });
  return built.outputFiles[0]?.text ?? '';
}

let pageScript: Promise<string> | null = null;

export class Tab {
  readonly errors: string[] = [];
  private readonly sockets = new Map<number, net.Socket>();

  private constructor(readonly page: Page) {}

  static async open(browser: Browser, home: Home, code: string, notes: Record<string, string>, data: object = {}): Promise<Tab> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    const tab = new Tab(page);
    page.on('pageerror', (error) => tab.errors.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') tab.errors.push(message.text());
    });
    await page.route('**/*', (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html><html lang="en"><title>Notes</title><body></body></html>' }));
    await page.goto('http://localhost/');
    await tab.expose();
    const styles = await Promise.all(['tests/browser/app.css', 'styles.css'].map((file) => readFile(path.join(HERE, file), 'utf8')));
    for (const content of styles) await page.addStyleTag({ content });
    pageScript ??= pageCode();
    await page.addScriptTag({ content: await pageScript });
    await page.evaluate(([main, root, texts, env, settings]) => (window as any).startPlugin(main, root, texts, env, settings), [ // eslint-disable-line
      code, home.vault, notes, home.surroundings.env, data,
    ] as const); // prettier-ignore
    return tab;
  }

  private async expose(): Promise<void> {
    const { page } = this;
    const tell = (id: number, event: string, data = ''): void => {
      page.evaluate(([one, what, text]) => (window as any).socketEvent(one, what, text), [id, event, data] as const).catch(() => undefined); // eslint-disable-line
    };
    await page.exposeFunction('nodeConnect', (id: number, options: net.NetConnectOpts) => {
      const socket = net.connect(options);
      this.sockets.set(id, socket);
      socket.on('connect', () => tell(id, 'connect'));
      socket.on('data', (data: Buffer) => tell(id, 'data', data.toString('base64')));
      socket.on('error', (error: NodeJS.ErrnoException) => tell(id, 'error', error.code));
      socket.on('close', () => tell(id, 'close'));
    });
    await page.exposeFunction('nodeWrite', (id: number, text: string) => void this.sockets.get(id)?.write(text));
    await page.exposeFunction('nodeDestroy', (id: number) => void this.sockets.get(id)?.destroy());
    await page.exposeFunction('nodeRead', readText);
  }

  run(command: string): Promise<void> {
    return this.page.evaluate((id) => (window as any).theApp.run(id), command); // eslint-disable-line
  }

  /** What the app was told to open. */
  opened(): Promise<Array<{ path: string; where: unknown; active: boolean }>> {
    return this.page.evaluate(() => (window as any).theApp.opened); // eslint-disable-line
  }

  /** Forget what was opened, and the theme. */
  reset(): Promise<void> {
    return this.page.evaluate(() => {
      (window as any).theApp.opened.length = 0; // eslint-disable-line
      document.body.classList.remove('theme-dark');
    });
  }

  write(note: string): Promise<void> {
    return this.page.evaluate((one) => (window as any).theApp.write(one).then(() => undefined), note); // eslint-disable-line
  }

  async shot(name: string): Promise<void> {
    await this.page.screenshot({ path: path.join(ARTEFACTS, `${name}.png`) });
  }

  async close(): Promise<void> {
    await this.page.context().close();
    for (const socket of this.sockets.values()) socket.destroy();
  }
}
