/** The pure parts: keys, the search's state, completion, history, names, marks, what is said of states. */

import { describe, expect, it } from 'vitest';
import type { Answer, Hit } from '../../../protocol/protocol';
import { programs } from '../../src/service';
import { commandIn, upCommand } from '../../src/state/banner';
import { complete, completionAt } from '../../src/state/completion';
import { matchedWords, segments, whyAtLength, whyFound } from '../../src/state/highlight';
import { KEPT, remember, Walk } from '../../src/state/history';
import { clickAction, keyAction, type Pressed } from '../../src/state/keys';
import { excerpt, folderOf, noteName, triggerAt } from '../../src/state/naming';
import * as search from '../../src/state/search';

const PLAIN: Pressed = { key: '', ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, isComposing: false };

describe('keys', () => {
  it.each<[Partial<Pressed>, boolean, string | null]>([
    [{ key: 'Enter' }, false, 'open'],
    [{ key: 'Enter', ctrlKey: true }, false, 'open-tab'],
    [{ key: 'Enter', metaKey: true }, true, 'open-tab'],
    [{ key: 'Enter', metaKey: true, altKey: true }, true, 'open-split'],
    [{ key: 'Enter', altKey: true }, false, 'insert-link'],
    [{ key: 'Enter', shiftKey: true }, false, 'create'],
    [{ key: 'Enter', shiftKey: true, ctrlKey: true }, false, null],
    [{ key: 'o', ctrlKey: true }, false, 'open-background'],
    [{ key: 'o', metaKey: true }, true, 'open-background'],
    [{ key: 'o' }, false, null],
    [{ key: 'Tab' }, false, 'in-note'],
    [{ key: 'Tab', shiftKey: true }, false, null],
    [{ key: 'ArrowUp', altKey: true }, false, 'older'],
    [{ key: 'ArrowDown', altKey: true }, false, 'newer'],
    [{ key: 'ArrowDown', shiftKey: true }, false, null],
    [{ key: 'N', ctrlKey: true }, false, 'next'],
    [{ key: 'k', ctrlKey: true }, true, 'previous'],
    [{ key: 'n', metaKey: true }, true, null],
    [{ key: 'PageDown' }, false, 'next-page'],
    [{ key: 'Enter', isComposing: true }, false, null],
    [{ key: 'n', ctrlKey: true, isComposing: true }, false, null],
    [{ key: 'a' }, false, null],
  ])('%o (mac %s) means %s', (pressed, mac, action) => {
    expect(keyAction({ ...PLAIN, ...pressed }, mac)).toBe(action);
  });

  it.each([
    [{ button: 0 }, 'open'],
    [{ button: 0, ctrlKey: true }, 'open-tab'],
    [{ button: 0, ctrlKey: true, altKey: true }, 'open-split'],
    [{ button: 0, altKey: true }, 'insert-link'],
    [{ button: 1 }, 'open-background'],
    [{ button: 2 }, null],
  ])('a click with %o means %s', (clicked, action) => {
    expect(clickAction({ ctrlKey: false, metaKey: false, altKey: false, ...clicked }, false)).toBe(action);
  });
});

function answer(...paths: string[]): Answer {
  const hits = paths.map((path) => ({ path, title: path }) as Hit);
  return {
    query: 'q',
    state: 'full',
    hits,
    reasons: [],
    mode: 'hybrid',
    total: hits.length,
    elapsed_ms: 1,
    shape: 'preview',
    tokens: 0,
    cut: 0,
    shortened: 0,
    index: { build: '', identity: '', current: true, checked_ns: 0, pending: 0 },
    times_ms: {},
    tier: 'strong',
    nearest: [],
  time: null,
  };
}

describe('the state of a search', () => {
  const asked = search.typed(search.EMPTY, 'q');

  it('selects the first, and keeps to a note that a person went to when the list changes', () => {
    let state = search.answered(asked, answer('a', 'b', 'c'), false);
    expect(search.selectedHit(state)?.path).toBe('a');
    expect(search.selectedHit(search.answered(state, answer('c', 'a'), true))?.path).toBe('c');
    state = search.moved(state, 1);
    expect(search.selectedHit(search.answered(state, answer('c', 'a', 'b'), true))?.path).toBe('b');
    expect(search.selectedHit(search.answered(state, answer('c', 'a'), true))?.path).toBe('c');
    expect(search.answered(state, answer(), true).selected).toBe(-1);
  });

  it('goes round by one place, and stops at the ends by a page', () => {
    const state = search.answered(asked, answer('a', 'b', 'c'), true);
    expect(search.moved(state, -1).selected).toBe(2);
    expect(search.moved(state, 8).selected).toBe(2);
    expect(search.moved(state, -8).selected).toBe(0);
    expect(search.moved(asked, 1).selected).toBe(-1);
    expect(search.chosen(state, 9)).toBe(state);
  });

  it('forgets everything with the query, and the list with a failure', () => {
    const state = search.answered(asked, answer('a'), true);
    expect(search.typed(state, ' ')).toEqual({ ...search.EMPTY, query: ' ' });
    expect(search.typed(state, 'qu').answer).toBe(state.answer);
  });
});

describe('completion', () => {
  const known = { tags: ['plant', 'plant/water', 'transplant', 'x'], folders: ['Reference', 'My notes', 'My notes/Deep'] };
  const at = (query: string, cursor = query.length) => completionAt(query, cursor, known);

  it.each([
    ['tag:pl', ['plant', 'plant/water', 'transplant']],
    ['-tag:#WAT', ['plant/water']],
    ['a path:my', ['"My notes"', '"My notes/Deep"']],
    ['path:"my n', ['"My notes"', '"My notes/Deep"']],
    ['path:deep', ['"My notes/Deep"']],
  ])('of %s offers %o', (query, options) => {
    expect(at(query)?.options).toEqual(options);
  });

  it.each(['', 'plain', 'tag:zzz', 'xtag:pl', 'tag:plant ', 'path:"My notes" a', 'file:pl'])('of %s offers nothing', (query) => {
    expect(at(query)).toBeNull();
  });

  it.each([
    ['tag:pl', 6, 'tag:plant '],
    ['tag:#pl seal', 7, 'tag:#plant seal'],
    ['path:"my no', 11, 'path:"My notes" '],
    ['path:"my" seal', 8, 'path:"My notes" seal'],
  ])('of %s is put in', (query, cursor, whole) => {
    const completion = at(query, cursor);
    if (!completion) throw new Error('nothing is offered');
    const done = complete(query, completion, completion.options[0] ?? '');
    expect(done.query).toBe(whole);
    expect(at(done.query, done.cursor)).toBeNull();
  });
});

describe('history', () => {
  it('keeps each query once, the newest first, and not without end', () => {
    expect(remember(['b', 'a'], ' a ')).toEqual(['a', 'b']);
    expect(remember(['b'], '  ')).toEqual(['b']);
    const many = Array.from({ length: 80 }, (_, index) => `q${index}`);
    expect(remember(many, 'new').length).toBe(KEPT);
  });

  it('is walked to its end and back to what was being typed', () => {
    const walk = new Walk(['b', 'a']);
    expect([walk.older('dra'), walk.older('b'), walk.older('a')]).toEqual(['b', 'a', null]);
    expect([walk.newer(), walk.newer(), walk.newer()]).toEqual(['b', 'dra', null]);
    expect(new Walk(['b', 'a']).older('b')).toBe('a');
  });
});

describe('names', () => {
  it.each([
    ['pump seal', 'pump seal'],
    ['tag:#x pump -old "exact: phrase" [status:done]', 'pump exact phrase'],
    ['path:"My notes" -"not this" after:2026-01-01 x/y', 'x y'],
    ['...hidden. ', 'hidden'],
    ['ADR-016', 'ADR-016'],
    ['tag:x', ''],
    ['水泵 größe', '水泵 größe'],
  ])('of a note about %s: %s', (query, name) => {
    expect(noteName(query)).toBe(name);
  });

  it('have folders', () => expect([folderOf('a/b/c.md'), folderOf('c.md')]).toEqual(['a/b', '']));

  it('begin a link after [[?', () => {
    expect(triggerAt('see [[?pump se', 14)).toEqual({ start: 4, query: 'pump se' });
    expect(triggerAt('see [[?pump]] x', 15)).toBeNull();
    expect(triggerAt('see [[pump', 10)).toBeNull();
  });

  it('an excerpt has the passage and never the properties', () => {
    const text = '---\ntags: x\n---\none\ntwo\nthree\nfour\nfive\nsix\n';
    expect(excerpt(text, 0, 0)).toBe('one\ntwo\nthree\nfour\nfive\nsix\n');
    expect(excerpt(text, 9, 9, 0)).toBe('three\nfour\nfive\nsix');
    expect(excerpt('---\nno end\n', 1, 1)).toBe('---\nno end\n');
    expect(excerpt(text, 99, 99)).toBe('');
  });
});

describe('matches', () => {
  it('are cut out of their text; what does not fit is left out', () => {
    expect(segments('a😀bc', [{ start: 3, end: 4 }])).toEqual([
      { text: 'a😀', match: false },
      { text: 'b', match: true },
      { text: 'c', match: false },
    ]);
    expect(segments('abc', [{ start: 2, end: 9 }, { start: 1, end: 1 }])).toEqual([{ text: 'abc', match: false }]);
    expect(segments('', [])).toEqual([]);
    expect(matchedWords('seal Seal seals', [{ start: 0, end: 4 }, { start: 10, end: 15 }, { start: 0, end: 4 }])).toEqual(['seals', 'seal']);
  });

  it('have their reason said, the strongest first', () => {
    const evidence = [
      { arm: 'words', rank: 2, raw: 1, weight: 1, contribution: 0.2, source: [] },
      { arm: 'passages', rank: 1, raw: 1, weight: 1, contribution: 0.5, source: [] },
      { arm: 'meaning', rank: 1, raw: 1, weight: 1, contribution: 0.1, source: [] },
      { arm: 'names', rank: 1, raw: 1, weight: 1, contribution: 0, source: [] },
    ];
    expect(whyFound(evidence)).toBe('meaning + words');
    expect(whyAtLength(evidence)).toContain('passages: rank 1, 0.50 of the score');
  });
});

describe('commands to copy', () => {
  it('are commands, quoted for a shell; advice in words is none', () => {
    expect(upCommand("/home/ada/It's here")).toBe("vaultrag up '/home/ada/It'\\''s here'");
    expect(upCommand('/home/ada/Notes')).toBe('vaultrag up /home/ada/Notes');
    expect(commandIn('ollama pull nomic-embed-text')).toBe('ollama pull nomic-embed-text');
    expect(commandIn('rename it')).toBe('');
  });

  it('of the service are looked for where programs without a PATH must look', () => {
    expect(programs('', 'linux', '/home/ada')[0]).toBe('/home/ada/.local/bin/vaultrag');
    expect(programs(' ~/v ', 'darwin', '/Users/ada')).toEqual(['/Users/ada/v']);
    expect(programs('', 'win32', 'C:\\Users\\ada').at(-1)).toBe('vaultrag.exe');
  });
});
