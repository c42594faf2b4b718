/** The release main.js in a real browser, against the real daemon: keys, mouse, input methods, what a screen reader gets. */

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Browser, Locator, Page } from 'playwright-core';
import { Home, until } from '../support/daemon';
import { launch, releaseCode, Tab } from './browser';

const NOTES: Record<string, string> = {
  'Reference/Pump hall.md':
    '---\ntags: [plant/water, manual]\n---\n# Pump hall\n\nThe seal 😀 leaks when the pump runs dry.\n\n## Grease\n\nGrease is Schmirol EP2 and nothing else. Two greases together go liquid.\nThe seal gets none.\n',
  'Meetings/2026-02-11 Seal supplier.md': '# Seal supplier\n\nThe supplier of the seal was here. See [[Pump hall]].\n\nThe new seal costs less.\n',
  'Signs.md': '# Signs\n\nBefore 😀😀 it comes the zebra 🦓 and after it the zebra again. 水泵 is a pump.\n',
  'Valve.md': '# Valve\n\nThe valve sticks in winter. [[Pump hall]]\n',
};

let browser: Browser;
let home: Home;
let code: string;
let tab: Tab;
let page: Page;

beforeAll(async () => {
  [browser, code] = await Promise.all([launch(), releaseCode()]);
  home = await Home.make(NOTES);
  await home.start();
  tab = await Tab.open(browser, home, code, NOTES, { excludeLinked: false });
  page = tab.page;
});

afterAll(async () => {
  await tab?.close();
  await browser?.close();
  await home?.remove();
});

afterEach(async () => {
  for (let left = 3; left && (await page.locator('.modal').count()); left -= 1) await page.keyboard.press('Escape');
  await tab.reset();
  expect(tab.errors).toEqual([]);
});

const field = (): Locator => page.getByRole('combobox', { name: 'Search your notes' });
const rows = (): Locator => page.locator('.vaultrag-results [role=option]');
const idle = (): Promise<void> => page.locator('.vaultrag-panel:not(.is-busy)').first().waitFor();

async function search(query: string): Promise<void> {
  await tab.run('open');
  await field().pressSequentially(query, { delay: 15 });
  await rows().first().waitFor();
  await idle();
}

describe('the search in a browser', () => {
  it('finds while one types, and draws matches, place, tags, reason and preview', async () => {
    await search('seal leaks');
    await page.locator('.vaultrag-preview mark').first().waitFor();
    expect(await rows().first().locator('.suggestion-title').innerText()).toBe('Pump hall');
    expect(await rows().first().locator('.suggestion-highlight').allInnerTexts()).toContain('seal');
    expect(await rows().first().locator('.tag').allInnerTexts()).toEqual(['#plant/water', '#manual']);
    const [list, preview] = [await page.locator('.vaultrag-results').boundingBox(), await page.locator('.vaultrag-preview').boundingBox()];
    expect(preview && list && preview.x >= list.x + list.width - 1).toBe(true);
    await tab.shot('search');
    await page.evaluate(() => document.body.classList.add('theme-dark'));
    await tab.shot('search-dark');
  });

  it('tells a screen reader what there is', async () => {
    await search('seal');
    const tree = await page.locator('.modal').ariaSnapshot();
    expect(tree).toContain('combobox "Search your notes"');
    expect(tree).toContain('listbox "Notes found"');
    expect(tree).toMatch(/option ".*Pump hall.*" \[selected\]|option ".*Seal supplier.*" \[selected\]/);
    const active = await field().getAttribute('aria-activedescendant');
    await page.keyboard.press('ArrowDown');
    expect(await field().getAttribute('aria-activedescendant')).not.toBe(active);
    expect(await page.locator(`[id="${await field().getAttribute('aria-activedescendant')}"]`).getAttribute('aria-selected')).toBe('true');
  });

  it.each([
    ['Enter', false, true],
    ['Control+Enter', 'tab', true],
    ['Control+Alt+Enter', 'split', true],
    ['Control+o', 'tab', false],
  ])('opens by %s', async (key, where, active) => {
    await search('grease');
    await page.keyboard.press(key);
    await until(async () => (await tab.opened()).length, 'it is opened');
    expect((await tab.opened())[0]).toMatchObject({ path: 'Reference/Pump hall.md', where, active });
    expect(await page.locator('.vaultrag-modal').count()).toBe(key === 'Control+o' ? 1 : 0);
  });

  it('goes up and down by Ctrl+N and Ctrl+P', async () => {
    await search('seal');
    await rows().nth(1).waitFor();
    await page.keyboard.press('Control+n');
    expect(await rows().nth(1).getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('Control+p');
    expect(await rows().nth(0).getAttribute('aria-selected')).toBe('true');
  });

  it('gives the mouse the same meaning', async () => {
    await search('seal');
    await rows().nth(1).hover();
    await page.mouse.move(200, 10);
    await rows().nth(1).hover();
    expect(await rows().nth(1).getAttribute('aria-selected')).toBe('true');
    const wanted = await rows().nth(1).getAttribute('data-path');
    await rows().nth(1).click({ modifiers: ['Control'] });
    await until(async () => (await tab.opened()).length, 'it is opened');
    expect((await tab.opened())[0]).toMatchObject({ path: wanted, where: 'tab' });
  });

  it('opens by a middle click in the background, and stays', async () => {
    await search('grease');
    await rows().first().click({ button: 'middle' });
    await until(async () => (await tab.opened()).length, 'it is opened');
    expect((await tab.opened())[0]).toMatchObject({ active: false });
    expect(await page.locator('.vaultrag-modal').count()).toBe(1);
  });

  it('waits for an input method, and does not take its Enter for its own', async () => {
    await tab.run('open');
    await field().focus();
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('Input.imeSetComposition', { text: 'すいb', selectionStart: 3, selectionEnd: 3 });
    await cdp.send('Input.imeSetComposition', { text: '水泵', selectionStart: 2, selectionEnd: 2 });
    const composing = { key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 229 };
    await cdp.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', ...composing });
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 150))); // twice the pause after a key
    expect(await rows().count()).toBe(0);
    expect(await tab.opened()).toEqual([]);
    await tab.shot('input-method');
    await cdp.send('Input.insertText', { text: '水泵' });
    await rows().first().waitFor();
    expect(await rows().first().getAttribute('data-path')).toBe('Signs.md');
    expect(await field().inputValue()).toBe('水泵');
  });

  it('marks what matches after emoji', async () => {
    await search('zebra');
    expect(await rows().first().locator('.suggestion-highlight').allInnerTexts()).toEqual(['zebra', 'zebra']);
    await tab.shot('emoji');
  });

  it('completes tags', async () => {
    await tab.run('open');
    await field().pressSequentially('seal tag:pl');
    await page.getByRole('option', { name: 'plant/water', exact: true }).waitFor();
    await tab.shot('completion');
    await page.keyboard.press('Enter');
    expect(await field().inputValue()).toBe('seal tag:plant/water ');
    await until(async () => (await rows().count()) === 1, 'the filter holds');
  });

  it('shows where a query stands in the note by Tab', async () => {
    await search('seal');
    await page.keyboard.press('Tab');
    await page.locator('.vaultrag-in-note .suggestion-item').first().waitFor();
    await tab.shot('in-note');
    await page.keyboard.press('Escape');
    expect(await page.locator('.vaultrag-in-note').count()).toBe(0);
  });

  it('says that nothing fits', async () => {
    await tab.run('open');
    await field().pressSequentially('xyzzy');
    await page.locator('.vaultrag-banner[data-kind=nothing]').waitFor();
    await tab.shot('nothing');
  });
});

describe('the panes in a browser', () => {
  it('search stays, and related notes follow the open note', async () => {
    await tab.write('Reference/Pump hall.md');
    await tab.run('open-pane');
    await field().pressSequentially('valve');
    await rows().first().waitFor();
    await tab.run('related');
    const related = page.locator('.vaultrag-related [role=listitem]');
    await related.first().waitFor();
    await tab.shot('panes');
    await page.keyboard.press('Enter');
    await until(async () => (await tab.opened()).length, 'it is opened');
    expect(await rows().count()).toBeGreaterThan(0);
  });
});

describe('the daemon’s states in a browser', () => {
  it('are drawn: away, and back again', async () => {
    await tab.run('open');
    const modal = page.locator('.modal');
    await modal.getByRole('combobox').pressSequentially('grease');
    await modal.locator('.vaultrag-hit').first().waitFor();
    await home.stop();
    await modal.locator('.vaultrag-banner[data-kind=offline]').waitFor();
    expect(await modal.locator('.vaultrag-command code').innerText()).toContain('vaultrag up');
    await tab.shot('offline');
    await modal.getByRole('combobox').fill('grease seal');
    await home.start();
    await modal.locator('.vaultrag-hit').first().waitFor();
    await modal.locator('.vaultrag-banner[data-kind=keyword-only]').waitFor();
  });
});
