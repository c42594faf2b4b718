/** Every state of the daemon, drawn: absent, strange, of another version, unserved, indexing; and what comes after. */

import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import VaultragPlugin from '../../src/main';
import { Window } from '../app/harness';
import { notices } from '../app/obsidian';
import { Home, until } from '../support/daemon';
import { all, banner, one, press, shown, type } from '../support/page';
import { answerTo, failure, greeting, Peer, result, type Answerer } from '../support/peer';

const NOTES = { 'Pump.md': 'The seal leaks.\n' };
let ends: Array<() => unknown> = [];
let window_: Window;

beforeEach(() => {
  notices.length = 0;
  process.env.VAULTRAG_HOME = '/nowhere/at/all';
});

afterEach(async () => {
  press('Escape');
  for (const end of ends.reverse()) await end();
  ends = [];
  document.body.empty();
});

async function open(data: object, root = '/home/ada/My notes'): Promise<void> {
  window_ = new Window({ root, notes: NOTES });
  await window_.load(VaultragPlugin, data);
  ends.push(() => window_.unload());
}

async function openTo(answer: Answerer): Promise<Peer> {
  const peer = await Peer.listen(answer);
  ends.push(() => peer.close());
  await open({ socket: peer.path });
  return peer;
}

function statusBar(): string {
  return window_.plugin.statusBarItems__[0].textContent;
}

const VAULT = {
  id: 'notes', name: 'notes', root: '/notes', state: 'ready', notes: 100, embedded: 0, pending: 0, passages_pending: 0,
  to_read: 0, skipped: 0, failed: 0, problems: 0, watching: '', why: '', hint: '', eta_s: null, counters: {}, events: [],
  skipped_notes: [], problem_notes: [],
}; // prettier-ignore

function status(vault: object, embedder: object = { state: 'ready', model: 'm' }): object {
  return { pid: 1, version: '0', state: 'ready', uptime_s: 1, started_ns: 1, notes: 100, pending: 0, skipped: 0,
    embedder: { provider: '', why: '', hint: '', dimension: 0, identity: '', ...embedder }, vaults: [{ ...VAULT, ...vault }] }; // prettier-ignore
}

describe('without the daemon', () => {
  it('the search says so, with the command to copy; the commands stay, and explain themselves', async () => {
    await open({});
    window_.run('open');
    await until(() => banner().kind === 'offline', 'it says so');
    expect(banner().text).toContain('no daemon is running');
    expect(one('.vaultrag-command code').textContent).toBe("vaultrag up '/home/ada/My notes'");
    expect(statusBar()).toBe('Search: off');
    window_.run('reconnect');
    await until(() => notices.length, 'it is explained');
    expect(notices[0]).toContain('no daemon is running');
  });

  it('the command is copied, never run', async () => {
    await open({});
    const copied: string[] = [];
    Object.defineProperty(navigator, 'clipboard', {
      configurable: true,
      value: { writeText: (text: string) => Promise.resolve(copied.push(text)) },
    });
    window_.run('open');
    await until(() => banner().kind === 'offline', 'it says so');
    one('.vaultrag-command button').click();
    await until(() => document.querySelector('[aria-label="Copied"]'), 'it is copied');
    expect(copied).toEqual(["vaultrag up '/home/ada/My notes'"]);
  });

  it('an open search finds it when it comes, and answers what stands there', async () => {
    const home = await Home.make(NOTES);
    ends.push(() => home.remove());
    process.env.VAULTRAG_HOME = home.surroundings.env.VAULTRAG_HOME;
    await open({}, home.vault);
    window_.run('open');
    type('seal');
    await until(() => banner().kind === 'offline', 'it says so');
    await home.start();
    await window_.plugin.commands__.get('reconnect').callback();
    await until(() => statusBar() === 'Search: words only', 'the status bar knows');
    await shown('Pump');
    await home.stop();
    await until(() => banner().kind === 'offline', 'the loss is drawn');
  });

  it('it is started only where that is wished, by the program that is set', async () => {
    const home = await Home.make(NOTES);
    ends.push(() => home.remove());
    const program = path.join(home.base, 'vaultrag');
    const log = path.join(home.base, 'ran');
    await writeFile(program, `#!/bin/sh\necho "$@" >> ${log}\necho 'vaultrag: the disk is full' >&2\nexit 2\n`);
    await chmod(program, 0o755);
    await open({ program, startWhenNeeded: false }, home.vault);
    window_.run('open');
    await until(() => banner().kind === 'offline', 'it says so');
    expect(notices).toEqual([]);
    press('Escape');
    await window_.unload();
    await open({ program, startWhenNeeded: true }, home.vault);
    window_.run('open');
    await until(() => notices.length, 'why it did not start is told');
    expect(notices[0]).toContain('the disk is full');
    press('Escape');
    window_.run('open');
    await until(() => banner().kind === 'offline', 'it is not tried again at once');
    expect(notices).toHaveLength(1);
  });

  it('a program that is not there is said to be so', async () => {
    await open({ program: '/nowhere/vaultrag' });
    window_.run('open');
    await until(() => banner().kind === 'offline', 'it says so');
    one('.vaultrag-banner-action').click();
    await until(() => notices.length, 'it is told');
    expect(notices[0]).toContain('there is no program /nowhere/vaultrag');
    expect(notices[0]).toContain('pipx install vaultrag');
  });
});

describe('a strange daemon', () => {
  it('of another version is called incompatible', async () => {
    await openTo((request, _, socket) => failure(socket, request.id, 'ProtocolMismatch', { hint: 'pipx upgrade vaultrag' }));
    window_.run('open');
    await until(() => banner().kind === 'incompatible', 'it says so');
    expect(one('.vaultrag-command code').textContent).toBe('pipx upgrade vaultrag');
    expect(statusBar()).toBe('Search: wrong version');
  });

  it('that does not serve this vault is asked to, by a click', async () => {
    let served = false;
    const peer = await openTo((request, _, socket) => {
      if (request.method === 'hello' && request.params.vault && !served) failure(socket, request.id, 'VaultUnknown');
      else if (request.method === 'add_vault') {
        served = true;
        result(socket, request.id, {});
      } else greeting()(request, peer, socket);
    });
    window_.run('open');
    await until(() => banner().kind === 'unserved', 'it says so');
    one('.vaultrag-banner-action').click();
    await until(() => banner().kind === '', 'it is served');
    expect(peer.calls('add_vault')[0]?.params).toEqual({ path: '/home/ada/My notes' });
  });

  it('that refuses a search has its words shown, and may be asked again', async () => {
    await openTo(greeting((request, _, socket) => failure(socket, request.id, 'VaultragError')));
    window_.run('open');
    type('seal');
    await until(() => banner().kind === 'failed', 'it says so');
    expect(banner().text).toContain('refused: VaultragError');
  });
});

describe('a busy daemon', () => {
  it.each([
    [{ state: 'indexing', notes: 25, to_read: 75 }, {}, 'Reading notes: 75 to go.', '0.25', 'Search: reading, 75 to go'],
    [{ state: 'embedding', embedded: 40, eta_s: 300 }, {}, 'Learning what notes mean: 40 of 100, 5 min left.', '0.4', 'Search: learning, 40 %'],
  ])('shows how far it is', async (vault, embedder, text, progress, bar) => {
    await openTo((request, peer, socket) => {
      if (request.method === 'subscribe') result(socket, request.id, { tells: [], status: status(vault, embedder) });
      else if (request.method === 'hello') result(socket, request.id, { ...WELCOME_WITH_FEED });
      else greeting()(request, peer, socket);
    });
    window_.run('open');
    await until(() => banner().kind === 'indexing', 'it says so');
    expect(banner().text).toBe(text);
    expect(one('.vaultrag-progress').getAttribute('value')).toBe(progress);
    expect(statusBar()).toBe(bar);
  });

  it('draws what it says anew when that changes', async () => {
    const peer = await openTo((request, one_, socket) => {
      if (request.method === 'subscribe') result(socket, request.id, { tells: [], status: status({ state: 'indexing' }) });
      else if (request.method === 'hello') result(socket, request.id, { ...WELCOME_WITH_FEED });
      else greeting()(request, one_, socket);
    });
    await until(() => statusBar().includes('reading'), 'it says so');
    const note = { jsonrpc: '2.0', method: 'status/changed', params: { status: status({}) } };
    peer.sockets[0]?.write(`${JSON.stringify(note)}\n`);
    await until(() => statusBar() === 'Search: ready', 'it says so');
  });

  it.each([
    ['keyword_only', 'keyword-only', 'Words only: Ollama does not answer.', 'ollama serve'],
    ['model_mismatch', 'mismatch', 'Words only for now: Ollama does not answer.', 'ollama serve'],
    ['relaxed', 'relaxed', 'Ollama does not answer.', ''],
  ])('says what kind of answer it gives: %s', async (state, kind, text, command) => {
    const reasons = [{ state, why: 'Ollama does not answer', hint: 'ollama serve' }];
    const hit = { path: 'Pump.md', title: 'Pump', score: 1, start_line: 1, end_line: 1, preview: 'The seal', spans: [], places: [],
      title_spans: [], name: '', name_kind: '', name_spans: [],
      heading: '', tags: [], mtime_ns: 1, citation: 'Pump.md', stale: false, evidence: [], tier: 'strong' }; // prettier-ignore
    await openTo(
      greeting((request, _, socket) => {
        result(socket, request.id, { ...answerTo(request.params.query), state, reasons, hits: [hit], total: 1 });
      }),
    );
    window_.run('open');
    type('seal');
    await until(() => banner().kind === kind, 'it says so');
    expect(one('.vaultrag-banner-text').textContent).toBe(text);
    expect(all('.vaultrag-command code').map((el) => el.textContent)).toEqual(command ? [command] : []);
  });

  it.each([
    [['Pump'], ['Bread', 'Seal'], 1, null],
    [[], ['Bread'], 0, 'Nothing matches closely. These are the nearest notes.'],
  ])('keeps what was found, %o, apart from the nearest notes, %o', async (found, near, lines, text) => {
    const hit = (title: string, tier: string): object => ({ path: `${title}.md`, title, score: 1, start_line: 1,
      end_line: 1, preview: '', line: title, spans: [], heading: '', tags: [], mtime_ns: 1, citation: '', stale: false,
      evidence: [], tier }); // prettier-ignore
    const hits = found.map((title) => hit(title, 'strong'));
    const nearest = near.map((title) => hit(title, 'weak'));
    await openTo(
      greeting((request, _, socket) => {
        result(socket, request.id, { ...answerTo(request.params.query), hits, nearest, total: hits.length });
      }),
    );
    window_.run('open');
    type('seal');
    await until(() => all('.vaultrag-hit').length === found.length + near.length, 'all are listed');
    await until(() => !one('.vaultrag-panel').classList.contains('is-busy'), 'it is settled');
    const marks = all('.vaultrag-nearest');
    expect(marks.map((el) => el.textContent)).toEqual(Array(lines).fill('Nothing else matches closely. Nearest notes:'));
    if (lines) expect(marks[0]?.parentElement?.dataset.path).toBe('Bread.md');
    if (text) expect(banner().text).toContain(text);
  });
});

const WELCOME_WITH_FEED = {
  name: 'vaultrag', version: '0.0.0', protocol: 1, pid: 1, vault: 'notes', vaults: ['notes'],
  methods: ['hello', 'search', 'subscribe'], positions: 'utf-16',
}; // prettier-ignore

describe('what is left behind', () => {
  it('when the plugin is unloaded in the middle of everything: nothing', async () => {
    const peer = await openTo(greeting());
    window_.run('open');
    type('never answered');
    await until(() => peer.calls('search').length, 'it is asked');
    await window_.unload();
    await until(() => peer.sockets.every((socket) => socket.readableEnded || socket.destroyed), 'the socket has ended');
    const count = peer.sockets.length;
    window.dispatchEvent(new Event('focus'));
    await mkdir(path.join(path.dirname(peer.path), 'later'), { recursive: true });
    expect(peer.sockets).toHaveLength(count);
  });
});
