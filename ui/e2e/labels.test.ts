/** Labels: two people label a hundred items by keyboard only, blind, and their agreement is right. */
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { accessible, close, complaintsOf, open, overflows } from './harness';

const API = '/v1/private/label-sets';
const ROWS = 100;
const SETS = { pass: 'polite', preference: 'better' } as const;
/** What each of them thinks of an answer, by its number. */
const FAILS: Record<string, (row: number) => boolean> = {
  ada: (row) => row % 5 === 0,
  bob: (row) => row % 5 === 0 || row % 7 === 0,
};

async function post(path: string, body: string): Promise<{ [name: string]: unknown }> {
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(inject('world').url + path, { method: 'POST', headers, body });
  expect(response.ok, await response.clone().text()).toBe(true);
  return (await response.json()) as { [name: string]: unknown };
}

/** Agreement and Cohen's kappa by their definitions. */
function expected(): { agree: number; kappa: number } {
  const rows = Array.from({ length: ROWS }, (_, row) => [FAILS.ada?.(row), FAILS.bob?.(row)]);
  const agree = rows.filter(([one, two]) => one === two).length / ROWS;
  const [ada = 0, bob = 0] = [0, 1].map((who) => rows.filter((row) => row[who]).length / ROWS);
  const chance = ada * bob + (1 - ada) * (1 - bob);
  return { agree, kappa: (agree - chance) / (1 - chance) };
}

async function rowShown(page: Page, position: number): Promise<number> {
  await page.locator(`[data-position="${position}"]`).waitFor();
  return Number((await page.locator('.labels-output pre').innerText()).replace('Answer ', ''));
}

/** All that the server says to a page about labels. */
function listen(page: Page): string[] {
  const heard: string[] = [];
  page.on('response', async (response) => {
    if (!response.url().includes(API)) return;
    heard.push(`${new URL(response.url()).pathname} ${await response.text().catch(() => '')}`);
  });
  return heard;
}

async function begin(set: string, person: string, phone = false): Promise<Page> {
  const page = await open(`/labels/${set}/label`, { phone });
  await page.getByLabel('Your name').waitFor();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type(person);
  await page.keyboard.press('Enter');
  await page.locator('[data-position]').waitFor();
  return page;
}

describe('labels', () => {
  beforeAll(async () => {
    // A world is kept for the next time.
    for (const name of [...Object.values(SETS), 'classes'])
      await fetch(`${inject('world').url}${API}/${name}`, { method: 'DELETE' });
    const rows = Array.from({ length: ROWS }, (_, row) => ({
      id: `r${row}`,
      question: `Question ${row}?`,
      output: `Answer ${row}`,
      other: `Reply ${row}`,
      feedback: { secret: 0 },
    }));
    const dataset = await post(
      '/v1/private/datasets?name=answers&format=json',
      JSON.stringify(rows),
    );
    for (const [kind, name] of Object.entries(SETS))
      await post(
        API,
        JSON.stringify({
          name,
          kind,
          dataset_id: dataset.dataset_id,
          instructions: 'Is it polite?',
          seed: 7,
          ...(kind === 'preference' && { limit: 4 }),
        }),
      );
  });

  test.each(['ada', 'bob'])('%s labels a hundred items by keyboard', async (person) => {
    const page = await begin(SETS.pass, person);
    const heard = listen(page);
    expect(await rowShown(page, 0)).toBeGreaterThanOrEqual(0);
    if (person === 'ada') {
      expect(await accessible(page)).toEqual([]);
      // The wrong key first: it is taken back, and nothing is said of that item.
      await page.keyboard.press('p');
      await page.locator('[data-position="1"]').waitFor();
      await page.keyboard.press('u');
      await page.locator('[data-position="0"][data-labelled="0"]').waitFor();
      await page.keyboard.press('c');
      await page.keyboard.type('pretty p, no label');
      await page.keyboard.press('Escape');
    }
    for (let position = 0; position < ROWS; position++) {
      if (person === 'ada' && position === 3) {
        await page.keyboard.press('s');
        continue;
      }
      const row = await rowShown(page, position);
      await page.keyboard.press(FAILS[person]?.(row) ? 'f' : 'p');
      if (position !== 60) continue;
      // What was said so far is there again, and the work goes on after it.
      await page.locator('[data-unsent="0"]').waitFor();
      await page.reload();
      await page.locator('[data-position]').waitFor();
    }
    if (person === 'ada') {
      // What was skipped comes last.
      const row = await rowShown(page, 3);
      await page.keyboard.press(FAILS.ada?.(row) ? 'f' : 'p');
    }
    await page.locator('[data-done="true"]').waitFor();
    expect(await page.locator('[data-done]').innerText()).toContain('100 of 100');
    expect([...new Set(heard.map((line) => line.split(' ')[0]))].sort()).toEqual([
      `${API}/${SETS.pass}/labels`,
      `${API}/${SETS.pass}/tasks`,
    ]);
    const told = person === 'bob' ? /secret|dataset_id|ada|pretty/ : /secret|dataset_id/;
    expect(heard.filter((line) => told.test(line)).map((line) => told.exec(line)?.[0])).toEqual([]);
    expect(complaintsOf(page)).toEqual([]);
    await close(page);
  });

  test('agreement is right, and a version keeps what both say', async () => {
    const page = await open(`/labels/${SETS.pass}`);
    const { agree, kappa } = expected();
    const pair = page.locator('[data-pair="ada bob"]');
    await pair.waitFor();
    const cells = await pair.locator('td').allInnerTexts();
    expect(cells.slice(0, 2)).toEqual(['ada and bob', '100']);
    expect(cells[2]?.startsWith(`${Math.round(100 * agree)}% (`)).toBe(true);
    expect(cells[3]?.startsWith(`${kappa.toFixed(3)} (`)).toBe(true);
    const differ = ROWS - Math.round(agree * ROWS);
    await page.getByRole('heading', { name: `Where they differ (${differ})` }).waitFor();
    expect(await page.locator('[data-differs]').count()).toBe(differ);
    expect(await accessible(page)).toEqual([]);
    await page.getByRole('button', { name: 'Make a version' }).press('Enter');
    const version = page.locator('[data-version="1"]');
    await version.waitFor();
    const kept = await version.locator('td').allInnerTexts();
    expect(kept.slice(0, 4)).toEqual(['1', String(ROWS - differ), '200', String(differ)]);
    const written = await fetch(`${inject('world').url}${API}/${SETS.pass}/labels?history=true`);
    const said = (await written.text())
      .split('\n')
      .filter((line) => /pretty p, no label/.test(line));
    expect(said.map((line) => line.split(',').slice(-2))).toEqual([
      ['withdrawn', 'False'],
      ['labelled', 'True'],
    ]);
    await close(page);
  });

  test('on a phone two outputs are compared, and a set is made in a dialog', async () => {
    const page = await begin(SETS.preference, 'eve', true);
    for (const key of ['ArrowLeft', 'ArrowRight', 't', 'ArrowLeft']) {
      await page.locator('.labels-output').first().waitFor();
      expect(await overflows(page)).toBe(false);
      const position = await page.locator('[data-position]').getAttribute('data-position');
      await page.keyboard.press(key);
      await page.locator(`[data-position="${Number(position) + 1}"]`).waitFor();
    }
    await page.locator('[data-done="true"]').waitFor();
    await page.goto(`${inject('world').url}/labels`);
    await page.getByRole('link', { name: SETS.pass, exact: true }).waitFor();
    expect(await overflows(page)).toBe(false);
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog', { name: 'New label set' });
    await dialog.getByLabel('Name').fill('classes');
    await dialog.getByLabel('What a label is').selectOption('class');
    await dialog.getByLabel('What is labelled').selectOption('dataset');
    await dialog
      .getByLabel('Dataset', { exact: true })
      .selectOption({ label: 'answers (100 items)' });
    await dialog.getByLabel('Classes').fill('billing\ntechnical');
    await dialog.getByRole('button', { name: 'Make it' }).click();
    await page.getByRole('heading', { name: 'classes', level: 1 }).waitFor();
    await page.getByText('class: billing, technical').waitFor();
    expect(await overflows(page)).toBe(false);
    await close(page);
  });
});
