/** A candidate: compared, item by item, and promoted after a review. */
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { accessible, close, complaintsOf, open, overflows } from './harness';

interface Line {
  candidate_id: string[];
  number: number[];
  kind: string[];
  status: string[];
}

const HOSTILE =
  'Never run <script>window.pwned = 1</script> <img src="x" onerror="window.pwned = 1">';

function gepa(): string {
  const filled = readFileSync(join(inject('world').folder, 'filled.json'), 'utf8');
  return (JSON.parse(filled) as { gepa: string }).gepa;
}

async function ask<Body>(path: string, body?: object): Promise<Body> {
  const response = await fetch(`${inject('world').url}/v1/private${path}`, {
    method: body ? 'POST' : 'GET',
    ...(body && {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Body;
}

interface AgentAnswer {
  active_version: number;
  configuration: { sections: Record<string, string> };
}

/** Of baseline and candidate alike: steps, calls with what they were given, and what came back. */
async function transcriptsAreShown(panel: Locator): Promise<void> {
  const shown = panel.locator('.trajectory');
  await expect.poll(() => shown.count()).toBe(2);
  for (const trajectory of await shown.all()) {
    const messages = trajectory.locator('.trajectory-message');
    expect(await messages.evaluateAll((all) => all.map((one) => one.dataset.role))).toEqual([
      'user',
      'assistant',
      'assistant',
    ]);
    expect(await messages.locator('.trajectory-head strong').allInnerTexts()).toEqual([
      'User',
      'Step 1',
      'Step 2',
    ]);
    const call = messages.nth(1).locator('.trajectory-call');
    expect(await call.locator('code').innerText()).toMatch(/^find_rules\(known=\d+\)$/);
    expect(await call.locator('pre').innerText()).toMatch(/^- /);
  }
  const head = panel.locator('summary', { hasText: 'Transcript' }).first();
  expect(await head.innerText()).toContain('2 steps, 1 call · ended: ');
}

/** As one list, in which what only one of the two did is marked. */
async function trajectoriesAreCompared(panel: Locator): Promise<void> {
  const list = panel.getByRole('list', { name: 'Differences of the trajectories' });
  await list.waitFor();
  const calls = async (change: string) =>
    list.locator(`[data-change="${change}"] .trajectory-call code`).allInnerTexts();
  const [before, after] = [await calls('removed'), await calls('added')];
  expect(before).toHaveLength(1);
  expect(after).toHaveLength(1);
  expect(after).not.toEqual(before);
  expect(await list.locator('[data-change="removed"] .badge').first().innerText()).toBe(
    'only before',
  );
  expect(await list.locator('[data-change="same"]').count()).toBeGreaterThan(0);
}

describe('a candidate', () => {
  let run: string;
  let agent: string;
  let best: string;
  let page: Page;
  const at = (candidate: string, query = '') => `/runs/${run}/candidates/${candidate}${query}`;
  const address = () => new URL(page.url()).searchParams;

  /** The last candidate whose parent is not the baseline. */
  async function grandchild(): Promise<string> {
    const { columns } = await ask<{ columns: Line }>(`/optimizations/${run}/points`);
    for (const id of [...columns.candidate_id].reverse()) {
      const one = await ask<{ parents: { number: number }[] }>(
        `/optimizations/${run}/candidates/${id}`,
      );
      if ((one.parents[0]?.number ?? 0) > 0) return id;
    }
    throw new Error('every candidate is a child of the baseline');
  }

  beforeAll(async () => {
    run = gepa();
    const view = await ask<{ agent: string; best_candidate_id: string }>(`/optimizations/${run}`);
    agent = view.agent;
    best = view.best_candidate_id;
    page = await open(at(best));
  });
  afterAll(async () => {
    await close(page);
  });

  test('is compared with its parent, the baseline and any other', async () => {
    await page.getByRole('heading', { name: /^What changed from / }).waitFor();
    expect(await page.locator('.page-head').innerText()).toContain('best');
    // The best may be a child of the baseline; this one is not.
    await page.goto(`${inject('world').url}${at(await grandchild())}`);
    await page.getByRole('heading', { name: /^What changed from its parent/ }).waitFor();
    expect(await page.locator('[data-part="system"] :is(ins, del)').count()).toBeGreaterThan(0);

    await page.goto(`${inject('world').url}${at(best)}`);
    await page.getByRole('heading', { name: /^What changed from / }).waitFor();
    // What stayed is folded, and opens.
    const folded = page.locator('details[data-part="user"]');
    expect(await folded.getAttribute('open')).toBeNull();

    await page.getByRole('button', { name: 'Baseline', exact: true }).click();
    await page.getByRole('heading', { name: 'What changed from the baseline' }).waitFor();
    expect(address().get('against')).toBe('baseline');
    expect(await page.locator('[data-part="system"] ins').count()).toBeGreaterThan(0);

    await page.getByRole('button', { name: 'Any other…' }).click();
    await page.getByRole('combobox', { name: 'Search candidates' }).fill('1');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'What changed from candidate 1' }).waitFor();
    expect(address().get('against')).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('is compared item by item, and an item opens side by side', async () => {
    await page.getByRole('button', { name: 'Baseline', exact: true }).click();
    await page.getByRole('tab', { name: 'Items' }).click();
    const cells = page.locator('.candidate-strip button');
    await cells.first().waitFor();
    const all = await page.getByRole('button', { name: /^All / }).innerText();
    expect(`All ${await cells.count()}`).toBe(all);

    await page.getByRole('button', { name: /^Improved / }).click();
    expect(address().get('items')).toBe('improved');
    const rows = page.locator('[data-item]');
    await rows.first().waitFor();
    await expect
      .poll(async () => new Set(await rows.locator('.candidate-change').allInnerTexts()).size)
      .toBeGreaterThan(0);
    for (const text of await rows.locator('.candidate-change').allInnerTexts())
      expect(text).toContain('improved');

    await page.keyboard.press('j');
    await page.locator('[data-row="0"] button:focus').waitFor();
    await page.keyboard.press('Enter');
    const panel = page.getByRole('dialog', { name: /^Item / });
    await panel.getByText('What they answered').waitFor();
    const first = address().get('item');
    const texts = await panel.innerText();
    for (const word of ['Input', 'Expected', 'Baseline', 'failed', 'passed', 'Trace'])
      expect(texts).toContain(word);
    await panel.locator('summary', { hasText: 'Trace' }).first().click();
    await panel.getByText('1. read').first().waitFor();
    await transcriptsAreShown(panel);
    await panel.getByLabel('Show the outputs as a diff').check();
    await panel.locator('.diff').first().waitFor();
    expect(address().get('outputs')).toBe('diff');
    await trajectoriesAreCompared(panel);
    expect(await accessible(page)).toEqual([]);

    await page.keyboard.press('j');
    await expect.poll(() => address().get('item')).not.toBe(first);
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    expect(await accessible(page)).toEqual([]);

    await page.getByRole('button', { name: 'Held-out items' }).click();
    await cells.first().waitFor();
    expect(address().get('on')).toBe('held_out');
    await page.getByRole('searchbox', { name: 'Search items' }).fill('no such item');
    await page.getByText('No item is like that').waitFor();
    expect(complaintsOf(page)).toEqual([]);
  });

  test('is the same at night and on a phone', async () => {
    const night = await open(at(best), { theme: 'dark' });
    await night.getByRole('heading', { name: /^What changed from/ }).waitFor();
    expect(await accessible(night)).toEqual([]);
    await close(night);
    const phone = await open(at(best, '?tab=items&against=baseline'), { phone: true });
    await phone.locator('[data-item]').first().waitFor();
    expect(await overflows(phone)).toBe(false);
    await close(phone);
  });

  test('is promoted after a review, and what moved meanwhile is said', async () => {
    // Texts that would be markup, in what is active now: they are shown, and do nothing.
    const before = await ask<AgentAnswer>(`/agents/${agent}`);
    await ask(`/agents/${agent}/versions`, {
      configuration: {
        ...before.configuration,
        sections: { ...before.configuration.sections, system: HOSTILE },
      },
      author: 'eve',
      note: HOSTILE,
    });
    const { columns } = await ask<{ columns: Line }>(`/optimizations/${run}/points`);
    const other = columns.candidate_id.findLast(
      (id, index) =>
        columns.kind[index] === 'trial' && columns.status[index] === 'completed' && id !== best,
    );
    await page.goto(inject('world').url + at(other ?? '', '?promote=1'));
    const dialog = page.getByRole('dialog', { name: /^Promote candidate/ });
    await dialog.getByText('What changes:').waitFor();
    expect(await dialog.innerText()).toContain('<script>window.pwned');
    expect(await page.locator('dialog img, dialog script').count()).toBe(0);
    expect(await page.evaluate(() => 'pwned' in window)).toBe(false);

    await dialog.getByRole('button', { name: 'Next: evidence' }).click();
    await dialog.getByText('There is no held-out evidence for this candidate').waitFor();
    await dialog.getByRole('button', { name: 'Next: confirm' }).click();
    expect(await accessible(page)).toEqual([]);
    const make = dialog.getByRole('button', { name: /^Make it version/ });
    await make.click();
    await dialog.getByText('A version needs the name of who made it.').waitFor();
    await dialog.getByLabel('Your name').fill('ada');
    await dialog.getByLabel('Note').fill('Better on all tickets');

    // Somebody is quicker.
    await ask(`/agents/${agent}/versions`, {
      configuration: {
        ...before.configuration,
        sections: { ...before.configuration.sections, system: 'Be quick.' },
      },
      author: 'bob',
      note: 'quicker',
    });
    await make.click();
    await dialog.getByText('Nothing was changed: another version is active by now').waitFor();
    await dialog.getByRole('button', { name: 'Review again' }).click();
    await dialog.getByText('(bob)').waitFor();
    const active = before.active_version + 2;
    await dialog.getByRole('button', { name: 'Next: evidence' }).click();
    await dialog.getByRole('button', { name: 'Next: confirm' }).click();
    const sentence = await dialog.locator('.candidate-confirm').innerText();
    expect(sentence).toContain(
      `becomes version ${active + 1} of ${agent}, in place of version ${active}`,
    );
    await make.click();

    const done = page.getByRole('dialog', { name: `${agent} is at version ${active + 1}` });
    await done.getByRole('link', { name: `See version ${active + 1} of ${agent}` }).click();
    const entry = page.locator(`[data-version="${active + 1}"]`);
    await entry.waitFor();
    const told = await entry.innerText();
    for (const words of ['active', 'by ada', 'Better on all tickets', 'candidate'])
      expect(told).toContain(words);
    expect(complaintsOf(page).filter((line) => !line.includes('409'))).toEqual([]);
  });
});
