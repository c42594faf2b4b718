/** The related notes, the matches in a note and the completion of links, against the real daemon. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import VaultragPlugin from '../../src/main';
import { Window } from '../app/harness';
import { Home, until } from '../support/daemon';
import { all, banner, one, press, titles, type } from '../support/page';

const NOTES = {
  'Hub.md': 'See [[Pump]], [[Valve]] and [[Signs]].\n',
  'Plant/Pump.md': '# Pump\n\nThe seal leaks.\n',
  'Plant/Valve.md': '# Valve\n\nThe valve sticks. The gasket fits.\n',
  'Signs.md': '# Signs\n\nA zebra.\n',
  'Alone.md': 'Nothing leads here.\n',
};

let home: Home;
let window_: Window;

beforeAll(async () => {
  home = await Home.make(NOTES);
  process.env.VAULTRAG_HOME = home.surroundings.env.VAULTRAG_HOME;
  await home.start();
});

afterAll(() => home.remove());

beforeEach(async () => {
  window_ = new Window({ root: home.vault, notes: NOTES });
  await window_.load(VaultragPlugin, { excludeLinked: false });
});

afterEach(async () => {
  press('Escape');
  await window_.unload();
  document.body.empty();
});

async function listed(...wanted: string[]): Promise<void> {
  await until(() => JSON.stringify(titles().sort()) === JSON.stringify(wanted.sort()), `the list shows ${wanted.join()}`);
}

describe('related notes', () => {
  it('are those of the open note, without itself, and follow it', async () => {
    await window_.write('Hub.md');
    await window_.pane('vaultrag-related');
    await listed('Pump', 'Valve', 'Signs');
    expect(one('.vaultrag-related-title').textContent).toBe('Hub');
    await window_.write('Signs.md');
    await listed('Hub');
  });

  it('are not asked for while the note is typed in', async () => {
    await window_.write('Hub.md');
    const view = await window_.pane('vaultrag-related');
    await listed('Pump', 'Valve', 'Signs');
    const asked: string[] = [];
    const { connection } = view.session;
    const call = connection.call.bind(connection);
    connection.call = (method: string, ...rest: unknown[]) => {
      asked.push(method);
      return call(method, ...rest);
    };
    for (let key = 0; key < 20; key += 1) window_.app.workspace.trigger('editor-change', {}, {});
    window_.app.workspace.trigger('file-open', window_.app.workspace.getActiveFile());
    window_.app.workspace.trigger('active-leaf-change', null);
    expect(asked).toEqual([]);
  });

  it('keep their rows while the service tells how it fares, and their note when it is renamed', async () => {
    await window_.write('Hub.md');
    const view = await window_.pane('vaultrag-related');
    await listed('Pump', 'Valve', 'Signs');
    const row = one('.vaultrag-hit');
    row.focus();
    const { connection } = view.session;
    for (const listener of connection.statusListeners) listener(connection.status);
    expect(one('.vaultrag-hit')).toBe(row);
    expect(document.activeElement).toBe(row);
    window_.app.vault.trigger('rename', { path: 'Center.md' }, 'Hub.md');
    expect(one('.vaultrag-related-title').textContent).toBe('Center');
    expect(one('.vaultrag-hit')).toBe(row);
  });

  it('stay with a note that is pinned', async () => {
    await window_.write('Hub.md');
    await window_.pane('vaultrag-related');
    await listed('Pump', 'Valve', 'Signs');
    one('[aria-label="Stay with this note"]').click();
    await window_.write('Signs.md');
    expect(one('.vaultrag-related-title').textContent).toBe('Hub');
    one('[aria-label="Stay with this note"]').click();
    await listed('Hub');
  });

  it('can be those of one folder, and those not linked yet', async () => {
    await window_.write('Hub.md');
    await window_.pane('vaultrag-related');
    await listed('Pump', 'Valve', 'Signs');
    const folder = one('[aria-label="Only in folder"]') as HTMLInputElement;
    folder.value = 'Plant';
    folder.dispatchEvent(new Event('change'));
    await listed('Pump', 'Valve');
    (one('.vaultrag-related-filters input[type="checkbox"]') as HTMLInputElement).click();
    await listed();
    await until(() => banner().kind, 'it says so');
  });

  it('can be dragged into a note as a link', async () => {
    await window_.write('Signs.md');
    await window_.pane('vaultrag-related');
    await listed('Hub');
    const row = one('.vaultrag-hit');
    expect(row.draggable).toBe(true);
    const evt = new Event('dragstart') as DragEvent;
    const data = new Map<string, string>();
    Object.defineProperty(evt, 'dataTransfer', { value: { setData: (kind: string, text: string) => data.set(kind, text) } });
    row.dispatchEvent(evt);
    expect(data.get('text/plain')).toBe('[[Hub]]');
  });

  it('open by mouse and by key, and are shown under the mouse', async () => {
    await window_.write('Signs.md');
    await window_.pane('vaultrag-related');
    await listed('Hub');
    const row = one('.vaultrag-hit');
    const hovered: unknown[] = [];
    window_.app.workspace.on('hover-link', (info: unknown) => hovered.push(info));
    row.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
    expect(hovered).toMatchObject([{ source: 'vaultrag-related', linktext: 'Hub.md' }]);
    row.dispatchEvent(new MouseEvent('click', { bubbles: true, ctrlKey: true, altKey: true }));
    await until(() => window_.opened.length, 'it is opened');
    expect(window_.opened[0]).toMatchObject({ path: 'Hub.md', where: 'split' });
  });

  it('say that nothing is near, and that a note is not in the index yet', async () => {
    await window_.write('Alone.md');
    await window_.pane('vaultrag-related');
    await until(() => banner().kind === 'nothing', 'it says so');
    window_.app.vault.createSync__('Unknown.md', 'Not on the disk.');
    await window_.write('Unknown.md');
    await until(() => banner().text.includes('not in the index yet'), 'it says so');
  });
});

describe('matches in the open note', () => {
  it('are found by a command', async () => {
    await window_.write('Plant/Valve.md');
    window_.run('in-note');
    type('gasket');
    await until(() => all('.vaultrag-in-note .suggestion-highlight').length, 'the line is there');
    expect(one('.vaultrag-in-note .suggestion-highlight').textContent).toBe('gasket');
    expect(one('.vaultrag-in-note .suggestion-flair').textContent).toBe('3');
    type('xyzzy');
    await until(() => document.querySelector('.suggestion-empty')?.textContent === 'Not in this note.', 'it says so');
  });
});

describe('[[? in a note', () => {
  async function suggest(text: string): Promise<{ suggest: any; editor: any; info: any }> { // eslint-disable-line
    const editor: any = await window_.write('Alone.md'); // eslint-disable-line
    editor.setValue(text);
    const [one_] = window_.plugin.editorSuggests__;
    const cursor = { line: 0, ch: text.length };
    const file = window_.app.workspace.getActiveFile();
    const info = one_.onTrigger(cursor, editor, file);
    if (info) one_.context = { ...info, editor, file };
    return { suggest: one_, editor, info };
  }

  it('completes a link to what is meant', async () => {
    const { suggest: one_, editor } = await suggest('Look at [[?gasket');
    const hits = await one_.getSuggestions(one_.context);
    expect(hits.map((hit: { title: string }) => hit.title)).toEqual(['Valve']);
    const el = document.createElement('div');
    one_.renderSuggestion(hits[0], el);
    expect(el.textContent).toContain('Valve');
    one_.selectSuggestion(hits[0]);
    expect(editor.getValue()).toBe('Look at [[Valve]]');
    expect(editor.getCursor()).toEqual({ line: 0, ch: 17 });
  });

  it('takes the brackets with it that the editor has closed by itself', async () => {
    const { suggest: one_, editor } = await suggest('Look at [[?gasket');
    editor.setValue('Look at [[?gasket]] again');
    const hits = await one_.getSuggestions(one_.context);
    one_.selectSuggestion(hits[0]);
    expect(editor.getValue()).toBe('Look at [[Valve]] again');
  });

  it.each(['Look at [[gasket', 'Look at ?gasket', '[[?done]] gasket', '[[?a|b'])('leaves %s alone', async (text) => {
    expect((await suggest(text)).info).toBeNull();
  });

  it('can be switched off', async () => {
    await window_.unload();
    window_ = new Window({ root: home.vault, notes: NOTES });
    await window_.load(VaultragPlugin, { linkCompletion: false });
    expect((await suggest('[[?gasket')).info).toBeNull();
  });
});
