/** The panels of a run: what they show, the keyboard, and that 10,000 trials are no more to draw. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { accessible, close, complaintsOf, open, overflows } from './harness';
import { interact, INTERACTIONS, largeRun, MANY, showTab, type Tab } from './large';

interface Filled {
  gepa: string;
  [name: string]: string;
}

function filled(): Filled {
  return JSON.parse(readFileSync(join(inject('world').folder, 'filled.json'), 'utf8')) as Filled;
}

describe('the panels of a run', () => {
  let page: Page;
  let run: string;

  beforeAll(async () => {
    run = filled().gepa;
    page = await open(`/runs/${run}`);
  });
  afterAll(() => close(page));

  const text = (selector: string) => page.locator(selector).first().innerText();
  const search = () => new URL(page.url()).searchParams;

  test('scores: hover, arrow keys, Enter, another axis, the table', async () => {
    const chart = page.locator('[data-panel=score] [role=application]');
    await chart.waitFor();
    await chart.focus();
    await page.keyboard.press('Home');
    expect(await text('[data-panel=score] [aria-live]')).toMatch(/^Baseline/);
    await page.keyboard.press('ArrowRight');
    const said = await text('[data-panel=score] [aria-live]');
    expect(said).toMatch(/^Trial \d+/);
    expect(await text('.score-card')).toContain(said.split(',')[0]);

    await page.getByRole('button', { name: 'Evaluations' }).click();
    expect(search().get('x')).toBe('evaluations');
    await page.getByText('Items evaluated so far').waitFor();
    expect(await page.locator('.score-best').count()).toBeGreaterThan(0);

    await page
      .getByRole('group', { name: /^View of Score/ })
      .getByText('Table')
      .click();
    await page.getByRole('columnheader', { name: 'Best so far' }).waitFor();
    expect(await page.locator('.table tbody tr').count()).toBeGreaterThan(10);
    await page
      .getByRole('group', { name: /^View of Score/ })
      .getByText('Chart')
      .click();

    await chart.focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/candidates\//);
    await page.goBack();
  });

  test('lineage: nodes, the card, keys, folding', async () => {
    await page.getByRole('tab', { name: 'Lineage' }).click();
    const graph = page.locator('.lineage-flow');
    await page.locator('.lineage-node[data-lit=true]').nth(1).waitFor();

    await graph.focus();
    await page.keyboard.press('b');
    await page.getByRole('link', { name: 'Open the candidate' }).waitFor();
    await page.keyboard.press('ArrowLeft');
    expect(await text('.lineage-side')).toMatch(/Trial|Baseline/);
    const before = await graph.getAttribute('data-nodes');
    for (let step = 0; step < 30 && search().get('node') !== '0'; step += 1)
      await page.keyboard.press('ArrowLeft');
    await page.keyboard.press(' ');
    await page.locator('[data-bundle="0"]').waitFor();
    expect(await graph.getAttribute('data-nodes')).not.toBe(before);
    expect(await accessible(page)).toEqual([]);
  });

  test('trials: filter, sort, columns, keys, compare', async () => {
    await page.getByRole('tab', { name: 'Trials' }).click();
    await page.locator('[data-row="0"]').waitFor();
    await page.locator('[data-sort=score]').click();
    expect(search().get('sort')).toBe('-score');
    const scores = await page
      .locator('.trials-table tbody tr[data-row] td:nth-child(4)')
      .allInnerTexts();
    const shown = scores.map(Number).filter(Number.isFinite);
    expect(shown).toEqual([...shown].sort((one, other) => other - one));

    await page.getByText('Columns', { exact: true }).click();
    await page.getByRole('checkbox', { name: 'Ended' }).check();
    expect(search().get('cols')).toContain('finished');
    await page.keyboard.press('Escape');
    await page.locator('.trials-scroll').focus();
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    const link = page.getByRole('link', { name: /^Compare #/ });
    expect(await link.getAttribute('href')).toMatch(/\/candidates\/.+\?against=.+/);
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    expect((await saving).suggestedFilename()).toMatch(/^trials-.*\.csv$/);
    expect(await accessible(page)).toEqual([]);
  });

  test('Pareto: the front, another measure, keys', async () => {
    await page.getByRole('tab', { name: 'Pareto' }).click();
    const chart = page.locator('[data-panel=pareto] [role=application]');
    await chart.waitFor();
    expect(await page.locator('.pareto-front[data-front]').count()).toBe(1);
    await page.getByRole('button', { name: 'Latency' }).click();
    expect(search().get('by')).toBe('latency');
    await chart.focus();
    await page.keyboard.press('Home');
    expect(await text('[data-panel=pareto] [aria-live]')).toContain('on the front');
    expect(await accessible(page)).toEqual([]);
  });

  test('nothing broke the policy, and a phone does not scroll sideways', async () => {
    expect(complaintsOf(page)).toEqual([]);
    const phone = await open(`/runs/${run}?tab=trials`, { phone: true, theme: 'dark' });
    for (const tab of ['trials', 'score', 'lineage', 'pareto']) {
      await phone.getByRole('tab', { name: new RegExp(tab, 'i') }).click();
      await phone.locator(`[data-panel=${tab}]`).waitFor();
      expect(await overflows(phone), tab).toBe(false);
    }
    expect(await accessible(phone)).toEqual([]);
    expect(complaintsOf(phone)).toEqual([]);
    await close(phone);
  });
});

/** What is drawn for 10,000 trials and what is asked for: neither grows with them. How long it takes
 * is measured by `make bench-ui`. */
describe(`a run of ${MANY} trials`, () => {
  let page: Page;
  let asked = 0;

  beforeAll(async () => {
    page = await open(`/runs/${largeRun()}`);
    await page.locator('[data-panel=score] canvas').waitFor();
    // Of the API: the browser itself looks for the icon of each new address.
    page.on('request', (request) => (asked += Number(request.url().includes('/v1/'))));
  });
  afterAll(() => close(page));

  const elements = () => page.evaluate(() => document.querySelectorAll('*').length);
  const nodes = () => page.locator('.lineage-flow').getAttribute('data-nodes').then(Number);

  /** Every interaction of a tab, none of which asks the server or draws line by line. */
  async function useTab(tab: Tab, most: number): Promise<void> {
    await showTab(page, tab);
    asked = 0;
    for (const [what, code] of Object.entries(INTERACTIONS[tab]))
      for (const turn of [0, 1]) {
        await interact(page, code, turn);
        expect(await elements(), what).toBeLessThan(most);
      }
    expect(asked).toBe(0);
  }

  test('the chart of scores', async () => {
    const marks = page.locator('canvas[data-marks]');
    expect(Number(await marks.getAttribute('data-marks'))).toBeGreaterThan(9_000);
    await useTab('Score', 1_000);
  });

  test('the trials', async () => {
    await useTab('Trials', 3_000);
    expect(await page.locator('[data-row="0"]').innerText()).not.toBe('');
    expect(await page.locator('.trials-table tbody tr[data-row]').count()).toBeLessThan(80);
  });

  test('the search reaches the table a moment after the last key', async () => {
    await page.evaluate(() => document.querySelector<HTMLElement>('.trials-filters .btn')?.click());
    await page.locator('[data-search]').fill('#4711');
    await page.locator('[data-row="0"]', { hasText: '#4711' }).waitFor();
    expect(await page.locator('.trials-table tbody tr[data-row]').count()).toBe(1);
  });

  test('Pareto and lineage', async () => {
    await useTab('Pareto', 1_000);
    await showTab(page, 'Lineage');
    const before = await nodes();
    expect(before).toBeLessThan(700);
    await useTab('Lineage', 20_000);
    await page.locator('.lineage-flow[data-busy=false]').waitFor();
    expect(await nodes()).toBeGreaterThan(before);
    expect(complaintsOf(page)).toEqual([]);
  });
});
