/** The search modal and pane in a stand-in of the app, against the real daemon. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import VaultragPlugin from '../../src/main';
import { Window } from '../app/harness';
import { notices } from '../app/obsidian';
import { Home, until } from '../support/daemon';
import { all, banner, input, one, press, selected, settled, shown, titles, type } from '../support/page';

const NOTES = {
  'Reference/Pump.md': '---\ntags: [plant/water]\n---\n# Pump\n\nThe seal leaks 😀 badly.\n\n## Repair\n\nChange the gasket of the seal first.\n',
  'Valve.md': '# Valve\n\nThe valve sticks in winter; see [[Pump]]. The seal is fine.\n',
  'Signs.md': 'Before 😀😀 it comes the zebra 🦓.\n',
  'Board.canvas': '{"nodes":[{"id":"1","type":"text","text":"# Animals\\n\\nA quokka smiles.","x":0,"y":0}],"edges":[]}',
  'Jam.md': `---\naliases: [Plum jam]\n---\n${'Stones go first. '.repeat(60)}😀 Boil the **dam**sons [slowly](http://jam.example/x), [[Pump|stirring]].\n`,
};

let home: Home;
let window_: Window;

beforeAll(async () => {
  home = await Home.make(NOTES);
  process.env.VAULTRAG_HOME = home.surroundings.env.VAULTRAG_HOME;
  await home.start();
});

afterAll(async () => {
  await home.remove();
});

beforeEach(async () => {
  notices.length = 0;
  window_ = new Window({ root: home.vault, notes: NOTES });
  await window_.load(VaultragPlugin);
});

afterEach(async () => {
  press('Escape');
  press('Escape');
  await window_.unload();
  document.body.empty();
});

async function search(query: string): Promise<void> {
  window_.run('open');
  type(query);
  await settled();
}

describe('the search modal', () => {
  it('shows what was found, with the matches, the place, the tags and the reason', async () => {
    await search('gasket');
    expect(titles()).toEqual(['Pump']);
    expect(one('.vaultrag-place').textContent).toBe('Reference › Repair');
    expect(all('.suggestion-highlight').map((el) => el.textContent)).toContain('gasket');
    expect(one('.tag').textContent).toBe('#plant/water');
    expect(one('.vaultrag-why').textContent).toContain('words');
    expect(banner()).toMatchObject({ kind: 'keyword-only' });
    expect(one('.vaultrag-command code').textContent).toBe('vaultrag config');
  });

  it('shows what a reader sees around the match, and opens the note at its letters', async () => {
    await search('slowly damsons');
    expect(titles()).toEqual(['Jam']);
    const snippet = one('.vaultrag-snippet').textContent ?? '';
    expect(snippet).toContain('Boil the damsons slowly, stirring.');
    expect(snippet).not.toMatch(/\*\*|\[\[|\]\(/);
    press('Enter');
    await until(() => window_.opened.length, 'the note is opened');
    const editor = () => window_.app.workspace.activeEditor?.editor;
    const ahead = (): string => {
      const at = editor()?.getCursor() ?? { line: 0, ch: 0 };
      return editor()?.getLine(at.line).slice(at.ch, at.ch + 9) ?? '';
    };
    await until(() => ahead() === 'dam**sons', 'the cursor is at the match');
    expect(editor()?.getSelection()).toBe('');
  });

  it('says which other name matches', async () => {
    await search('plum jam');
    expect(one('.vaultrag-name').textContent).toBe('alias: Plum jam');
    expect(all('.vaultrag-name .suggestion-highlight').map((el) => el.textContent)).toEqual(['Plum', 'jam']);
  });

  it('marks the right letters after emoji', async () => {
    await search('zebra');
    expect(all('.suggestion-highlight').map((el) => el.textContent)).toEqual(['zebra']);
  });

  it('previews the selected note at its passage', async () => {
    await search('gasket');
    await until(() => document.querySelector('.vaultrag-preview mark'), 'the preview is drawn');
    expect(one('.vaultrag-preview mark').textContent).toBe('gasket');
    expect(one('.vaultrag-preview-text').textContent).not.toContain('tags:');
  });

  it.each([
    ['Enter', {}, { where: false, active: true }],
    ['Enter', { ctrlKey: true }, { where: 'tab', active: true }],
    ['Enter', { ctrlKey: true, altKey: true }, { where: 'split', active: true }],
  ])('opens by %s %o at the line that fits, and is gone', async (key, mods, how) => {
    await search('gasket');
    press(key, mods);
    await until(() => window_.opened.length, 'the note is opened');
    expect(window_.opened[0]).toMatchObject({ path: 'Reference/Pump.md', ...how });
    expect(window_.opened[0]?.line).toBeGreaterThan(3);
    expect(document.querySelector('.vaultrag-modal')).toBeNull();
  });

  it('opens a file of another kind by the app’s own viewer, at its place', async () => {
    window_.run('open');
    await until(async () => {
      type('');
      type('quokka');
      await settled();
      return titles().length;
    }, 'the canvas is read');
    expect(titles()).toEqual(['Board.canvas']);
    const opened: unknown[][] = [];
    window_.app.workspace.openLinkText = (...asked: unknown[]) => {
      opened.push(asked);
      return Promise.resolve();
    };
    press('Enter');
    await until(() => opened.length, 'it is opened');
    expect(opened[0]).toEqual(['Board.canvas#Animals', '', false, { active: true }]);
    expect(window_.opened).toEqual([]);
  });

  it('opens in the background by Mod+O and stays', async () => {
    await search('gasket');
    expect(press('o', { ctrlKey: true }).defaultPrevented).toBe(true);
    await until(() => window_.opened.length, 'the note is opened');
    expect(window_.opened[0]).toMatchObject({ where: 'tab', active: false });
    expect(input()).toBeTruthy();
  });

  it('inserts several links in the user’s style and stays', async () => {
    const editor = await window_.write('Signs.md');
    await search('seal');
    press('Enter', { altKey: true });
    press('ArrowDown');
    window_.linkStyle = 'markdown';
    press('Enter', { altKey: true });
    expect(editor.getValue()).toMatch(/\[\[(Pump|Valve)\]\]\[(Pump|Valve)\]\([\w/]+\.md\)/);
    expect(input().value).toBe('seal');
  });

  it('creates a note from the query, where new notes go', async () => {
    await search('tag:#plant "brand new": a/note');
    press('Enter', { shiftKey: true });
    await until(() => window_.opened.length, 'the note is opened');
    expect(window_.opened[0]?.path).toBe('brand new a note.md');
  });

  it('opens the matches of the selected note by Tab', async () => {
    await search('seal');
    const path = one('.vaultrag-hit.is-selected').dataset.path ?? '';
    press('Tab');
    await until(() => all('.vaultrag-in-note .suggestion-item').length, 'the lines are there');
    press('Enter');
    await until(() => window_.opened.length, 'the line is opened');
    expect(window_.opened[0]?.path).toBe(path);
    const chosen = () => window_.app.workspace.activeEditor?.editor.getSelection();
    await until(() => chosen() === 'seal', 'the match is selected');
  });

  it.each([
    [{ key: 'ArrowDown' }, { key: 'ArrowUp' }],
    [{ key: 'n', ctrlKey: true }, { key: 'p', ctrlKey: true }],
    [{ key: 'j', ctrlKey: true }, { key: 'k', ctrlKey: true }],
  ])('moves the selection by %o and %o, round the ends', async (down, up) => {
    await search('seal');
    const [first, second] = titles();
    press(down.key, down);
    expect(selected()).toBe(second);
    press(down.key, down);
    expect(selected()).toBe(first);
    press(up.key, up);
    expect(selected()).toBe(second);
    const active = input().getAttribute('aria-activedescendant') ?? '';
    expect(one(`[id="${active}"]`).getAttribute('aria-selected')).toBe('true');
  });

  it('gives the mouse the same meaning', async () => {
    await search('seal');
    const row = all('.vaultrag-hit')[1];
    row?.dispatchEvent(new MouseEvent('click', { bubbles: true, ctrlKey: true }));
    await until(() => window_.opened.length, 'the note is opened');
    expect(window_.opened[0]).toMatchObject({ path: row?.dataset.path, where: 'tab' });
  });

  it('opens by the middle button in the background', async () => {
    await search('gasket');
    one('.vaultrag-hit').dispatchEvent(new MouseEvent('auxclick', { bubbles: true, button: 1 }));
    await until(() => window_.opened.length, 'the note is opened');
    expect(window_.opened[0]).toMatchObject({ active: false });
  });

  it('leaves keys alone while text is being composed, and asks when it is done', async () => {
    window_.run('open');
    const field = input();
    field.dispatchEvent(new CompositionEvent('compositionstart', { bubbles: true }));
    type('zebra');
    expect(press('Enter', { isComposing: true }).defaultPrevented).toBe(false);
    expect(press('ArrowDown').defaultPrevented).toBe(false);
    expect(titles()).toEqual([]);
    field.dispatchEvent(new CompositionEvent('compositionend', { bubbles: true }));
    await shown('Signs');
  });

  it('walks through what was asked before, and back', async () => {
    for (const query of ['gasket', 'zebra']) {
      await search(query);
      await until(() => titles().length === 1, 'it is found');
      press('Enter');
    }
    window_.run('open');
    type('half');
    press('ArrowUp', { altKey: true });
    expect(input().value).toBe('zebra');
    press('ArrowUp', { altKey: true });
    expect(input().value).toBe('gasket');
    press('ArrowUp', { altKey: true });
    expect(input().value).toBe('gasket');
    press('ArrowDown', { altKey: true });
    press('ArrowDown', { altKey: true });
    expect(input().value).toBe('half');
  });

  it('begins with what is selected in the note', async () => {
    const editor = await window_.write('Valve.md');
    editor.setSelection({ line: 2, ch: 4 }, { line: 2, ch: 9 });
    window_.run('open');
    expect(input().value).toBe('valve');
    await shown('Valve');
  });

  it('completes tags and folders in the query', async () => {
    window_.run('open');
    type('leak tag:#pl');
    await until(() => all('.vaultrag-completions .suggestion-item').length, 'tags are offered');
    press('Enter');
    expect(input().value).toBe('leak tag:#plant/water ');
    expect(window_.opened).toEqual([]);
    type('seal path:ref');
    await until(() => all('.vaultrag-completions .suggestion-item').length, 'folders are offered');
    press('Tab');
    expect(input().value).toBe('seal path:Reference ');
    await shown('Pump');
  });

  it('says that nothing fits, and offers to create a note', async () => {
    await search('xyzzy');
    expect(banner().text).toContain('Nothing in your notes fits.');
    one('.vaultrag-banner-action').click();
    await until(() => window_.opened.length, 'the note is opened');
    expect(window_.opened[0]?.path).toBe('xyzzy.md');
  });

  it('shows the answer to the last of many keys', async () => {
    window_.run('open');
    for (const text of ['z', 'ze', 'zeb', 'gas', 'gask', 'gasket']) type(text);
    await shown('Pump');
    await until(() => !one('.vaultrag-panel').classList.contains('is-busy'), 'it is settled');
    expect(titles()).toEqual(['Pump']);
  });

  it.each([
    [{}, false],
    [{ altKey: true }, true],
  ])('lets Enter %o right after the last key wait for the answer to it', async (mods, stays) => {
    await window_.write('Valve.md');
    await search('zebra');
    type('gasket');
    press('Enter', mods);
    expect(window_.opened).toEqual([]);
    if (stays) {
      const { editor } = window_.app.workspace.activeEditor;
      await until(() => editor.getValue().includes('[[Pump]]'), 'the link is there');
      expect(editor.getValue()).not.toContain('[[Signs]]');
    } else {
      await until(() => window_.opened.length, 'the note is opened');
      expect(window_.opened.map((one) => one.path)).toEqual(['Reference/Pump.md']);
    }
  });

  it('forgets an Enter that another key follows', async () => {
    await search('zebra');
    type('gas');
    press('Enter');
    type('gasket');
    await shown('Pump');
    await settled();
    expect(window_.opened).toEqual([]);
  });

  it('opens what was chosen from the list, also while another answer is awaited', async () => {
    await search('seal');
    type('seal gasket');
    press('ArrowDown');
    const path = one('.vaultrag-hit.is-selected').dataset.path;
    press('Enter');
    expect(window_.opened.map((one) => one.path)).toEqual([path]);
  });

  it('empties its list with its query', async () => {
    await search('gasket');
    type('');
    expect(titles()).toEqual([]);
    expect(banner().kind).toBe('');
  });
});

describe('the search pane', () => {
  it('stays while notes are opened, and keeps its query with the layout', async () => {
    window_.run('open-pane');
    const view = await window_.pane('vaultrag-search');
    type('gasket');
    await shown('Pump');
    press('Enter');
    await until(() => window_.opened.length, 'the note is opened');
    expect(titles()).toEqual(['Pump']);
    expect(view.getState()).toMatchObject({ query: 'gasket' });
    await view.setState({ query: 'zebra' }, { history: false });
    await shown('Signs');
  });

  it('has the keys while it has the focus only', async () => {
    const view = await window_.pane('vaultrag-search');
    view.focusInput();
    type('seal');
    await until(() => titles().length === 2, 'both are found');
    const [first, second] = titles();
    press('n', { ctrlKey: true });
    expect(selected()).toBe(second);
    (document.activeElement as HTMLElement).blur();
    press('n', { ctrlKey: true });
    expect(selected()).toBe(second);
    expect(first).not.toBe(second);
  });

  it('has the app show a page under the mouse', async () => {
    await window_.pane('vaultrag-search');
    type('gasket');
    await shown('Pump');
    const hovered: unknown[] = [];
    window_.app.workspace.on('hover-link', (info: { linktext: string; source: string }) => hovered.push(info));
    one('.vaultrag-hit').dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
    expect(hovered).toMatchObject([{ source: 'vaultrag-search', linktext: 'Reference/Pump.md' }]);
  });
});
