/**
 * From a key to the settled list, in the release main.js in a real browser, with 10,000 notes and vectors that need no
 * model. The pause after a key (60 ms) is in it, and so is the bridge between the browser and Node, which the app lacks.
 */

import { execFileSync } from 'node:child_process';
import os from 'node:os';
import { it } from 'vitest';
import { Home, PYTHON, REPOSITORY } from '../support/daemon';
import { launch, releaseCode, Tab } from '../browser/browser';

const NOTES = Number(process.env.BENCH_NOTES ?? 10_000);

it('from a key to the settled list', async () => {
  const home = await Home.make({ 'First.md': 'A first note.' }, '[watch]\ndebounce_ms = 50\n');
  const browser = await launch();
  try {
    const script = `import json, sys\nfrom pathlib import Path\nfrom tests.bench.vaults import build\nprint(json.dumps(build(Path(sys.argv[1]), ${NOTES})))`;
    const words = JSON.parse(execFileSync(PYTHON, ['-c', script, home.vault], { cwd: REPOSITORY, encoding: 'utf8' })) as string[];
    await home.startModule(['tests.bench.serve'], [], 300_000);
    const tab = await Tab.open(browser, home, await releaseCode(), {}, { preview: false });
    await tab.run('open');
    const { page } = tab;
    await page.evaluate(() => {
      const times: number[] = [];
      let pressed = 0;
      window.addEventListener('keydown', () => (pressed = performance.now()), true);
      const panel = document.querySelector('.vaultrag-panel');
      if (!panel) throw new Error('there is no search');
      new MutationObserver(() => {
        if (!panel.classList.contains('is-busy') && pressed) {
          times.push(performance.now() - pressed);
          pressed = 0;
        }
      }).observe(panel, { attributes: true });
      Object.assign(window, { times });
    });
    const field = page.getByRole('combobox');
    for (const query of words.slice(0, 12)) {
      await field.fill('');
      await field.pressSequentially(query.slice(0, 24), { delay: 250 });
    }
    const times = (await page.evaluate(() => (window as unknown as { times: number[] }).times)).sort((a, b) => a - b);
    const at = (share: number): string => (times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0).toFixed(0);
    const machine = `${os.cpus()[0]?.model ?? ''}, ${os.cpus().length} cores, load ${os.loadavg()[0]?.toFixed(1) ?? ''}`;
    console.log(`${NOTES} notes, ${times.length} keys: median ${at(0.5)} ms, 95 % ${at(0.95)} ms (${machine})`);
    await tab.close();
  } finally {
    await browser.close();
    await home.remove();
  }
});
