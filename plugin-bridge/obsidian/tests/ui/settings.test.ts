/** The settings, the ways in from outside, and the log, against the real daemon. */

import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Setting } from 'obsidian-test-mocks/obsidian';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import VaultragPlugin from '../../src/main';
import { DEFAULTS, settingsFrom } from '../../src/settings';
import { Window } from '../app/harness';
import { Home, until } from '../support/daemon';
import { input, one, press, shown } from '../support/page';

const NOTES = { 'Pump.md': '# Pump\n\nThe seal leaks.\n' };
let home: Home;
let window_: Window;
let ends: Array<(() => void) | undefined> = [];

beforeAll(async () => {
  home = await Home.make(NOTES);
  process.env.VAULTRAG_HOME = home.surroundings.env.VAULTRAG_HOME;
  await home.start();
});

afterAll(() => home.remove());

beforeEach(async () => {
  window_ = new Window({ root: home.vault, notes: NOTES });
  await window_.load(VaultragPlugin, { limit: 7, program: 5, nonsense: true });
});

afterEach(async () => {
  press('Escape');
  for (const end of ends) end?.();
  ends = [];
  await window_.unload();
  document.body.empty();
});

function tab(): any { // eslint-disable-line
  const [settings] = window_.plugin.settingTabs__;
  document.body.append(settings.containerEl);
  // Controls are the app's own; what the plugin draws itself is drawn here.
  for (const { items } of settings.getSettingDefinitions()) {
    for (const item of items) if (item.render) ends.push(item.render(new Setting(settings.containerEl)));
  }
  return settings;
}

describe('settings', () => {
  it('of a damaged file are the defaults, but for what is sound', () => {
    expect(settingsFrom(null)).toEqual(DEFAULTS);
    expect(settingsFrom({ limit: 1e9, socket: 3, preview: false })).toEqual({ ...DEFAULTS, limit: 200, preview: false });
    expect(DEFAULTS.startWhenNeeded).toBe(false);
  });

  it('are declared, each with a key that exists, and kept when they are changed', async () => {
    const settings = tab();
    const keys = settings
      .getSettingDefinitions()
      .flatMap((group: any) => group.items) // eslint-disable-line
      .flatMap((item: any) => (item.control ? [item.control.key] : [])); // eslint-disable-line
    expect(keys.sort()).toEqual(Object.keys(DEFAULTS).sort());
    expect(settings.getControlValue('limit')).toBe(7);
    await settings.setControlValue('limit', 20);
    expect(window_.plugin.data__).toEqual({ ...DEFAULTS, limit: 20 });
  });

  it('show the state of the service and the end of its log', async () => {
    await writeFile(path.join(home.base, 'h/data/daemon.log'), 'first\n'.repeat(5_000) + 'the last line\n');
    tab();
    await until(() => one('.vaultrag-log-text').textContent?.endsWith('the last line'), 'the log is shown');
    expect(one('.vaultrag-log-text').textContent?.split('\n').length).toBe(40);
    await until(() => document.body.textContent?.includes('words only'), 'the state is shown');
  });

  it('restart the service: the old one ends, and what starts the new one is run', async () => {
    const program = path.join(home.base, 'start');
    const python = process.env.VAULTRAG_PYTHON ?? path.resolve('../../.venv/bin/python');
    await writeFile(program, `#!/bin/sh\nexec '${python}' -m vaultrag "$@"\n`, { mode: 0o755 });
    const settings = tab();
    await settings.setControlValue('program', program);
    const session = settings.session;
    await until(() => session.connection.state.kind === 'ready', 'it is connected');
    const before = session.connection.state.welcome.pid;
    await session.restartService();
    await until(() => session.connection.state.kind === 'ready' && session.connection.state.welcome.pid !== before, 'it is new');
    await session.connection.call('shutdown', {});
    await until(() => session.connection.state.kind === 'offline', 'it has ended');
    await home.stop();
    await home.start();
  });
});

describe('ways in', () => {
  it('a link opens the search with its query, or a note at its line', async () => {
    const handler = window_.plugin.obsidianProtocolHandlers__.get('vaultrag');
    handler({ action: 'vaultrag', path: 'Pump.md', line: '3' });
    await until(() => window_.opened.length, 'the note is opened');
    expect(window_.opened[0]).toMatchObject({ path: 'Pump.md', line: 2 });
    handler({ action: 'vaultrag', query: 'seal' });
    expect(input().value).toBe('seal');
    await shown('Pump');
  });

  it('the command line answers in text and in JSON, and says what is wrong', async () => {
    const cli = window_.plugin.cliHandlers__.get('vaultrag');
    expect(await cli({ query: 'seal' })).toContain('Pump.md#L3-L3\tPump');
    expect(JSON.parse(await cli({ query: 'seal', format: 'json' })).hits[0].path).toBe('Pump.md');
    expect(await cli({ query: 'xyzzy' })).toContain('Nothing found.');
    expect(await cli({})).toContain('query=<text>');
    await cli({ query: 'seal', open: 'true' });
    expect(window_.opened).toHaveLength(1);
  });

  it('no command has a hotkey, and none has the plugin’s name', () => {
    for (const command of window_.plugin.commands__.values()) {
      expect(command.hotkeys).toBeUndefined();
      expect(`${command.id} ${command.name}`.toLowerCase()).not.toContain('vaultrag');
    }
  });
});
