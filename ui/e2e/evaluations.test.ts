/** Evaluations and their refinement: counts, filters, the test detail with all rounds, a new one. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { accessible, close, complaintsOf, open, overflows } from './harness';

/** Of twenty outputs, `tests/ui/refined.py` fixes twelve and worsens two. */
const OUTPUTS = 20;
const COUNTS = { fixed: 12, improved: 1, unchanged: 3, worsened: 2 };

function filled(): Record<string, string> {
  return JSON.parse(readFileSync(join(inject('world').folder, 'filled.json'), 'utf8'));
}

const soon = <Found>(read: () => Found | Promise<Found>) => expect.poll(read);
const items = (page: Page) =>
  page.locator('[data-item]').evaluateAll((rows) => rows.map((row) => row.dataset.item));
const names = (page: Page) => page.locator('[data-evaluation] a').allTextContents();
const heading = (page: Page, name: string) =>
  page.getByRole('heading', { name, level: 1, exact: true }).waitFor();

describe('the list of evaluations', () => {
  let page: Page;
  beforeAll(async () => {
    page = await open('/evaluations');
    await page.locator('[data-evaluation]').first().waitFor();
  });
  afterAll(() => close(page));

  test('shows each with status, score, interval, items, refinement and cost', async () => {
    const row = page.locator(`[data-evaluation="${filled().refined}"]`);
    await row.getByText('12 of 18 fixed').waitFor();

    const text = await row.innerText();

    expect(text).toMatch(/completed/);
    expect(text).toMatch(/0\.750\s+0\.\d{3} to 0\.\d{3}/);
    expect(text).toContain('14 of 20 items');
    expect(text).toContain('2 worsened');
    expect(text).toMatch(/\$0\.\d\d/);
    const idle = page.locator(`[data-evaluation="${filled().inactive}"] [title*="schema"]`);
    expect(await idle.innerText()).toBe('inactive');
    expect(await accessible(page)).toEqual([]);
  });

  test('keeps search and filters in the address, and on the way back', async () => {
    await page.keyboard.press('/');
    await page.keyboard.type('reminders, r');
    await page.waitForURL(/q=reminders/);
    await page.getByLabel('Refinement').selectOption('active');
    await page.waitForURL(/refined=active/);
    await soon(() => names(page)).toEqual(['Reminders, refined']);
    await page.getByRole('searchbox').blur();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await heading(page, 'Reminders, refined');
    await page.keyboard.press('Escape');
    await page.waitForURL(/evaluations\?.*refined=active/);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('button', { name: /^failed/ }).click();
    await page.waitForURL(/status=failed/);
    await soon(() => names(page)).toEqual(['Its model is gone']);
    expect(complaintsOf(page)).toEqual([]);
  });
});

describe('a refined evaluation', () => {
  let page: Page;
  beforeAll(async () => {
    page = await open(`/evaluations/${filled().refined}`);
    await page.locator('[data-item]').first().waitFor();
  });
  afterAll(() => close(page));

  test('says exactly what refinement did', async () => {
    const part = page.locator('[data-refinement="active"]');
    for (const [outcome, count] of Object.entries(COUNTS)) {
      const shown = await part.locator(`[data-outcome="${outcome}"]`).innerText();
      const share = `${(count / OUTPUTS) * 100}%`;
      expect(shown.replace(/\s+/g, ' ')).toMatch(
        new RegExp(`^${count} \\S ${outcome} ${share.replace('.', '\\.')}$`),
      );
    }
    const text = await part.innerText();
    expect(text).toContain('18 of 20 outputs were refined, in 28 rounds');
    expect(text).toContain('14 reached the threshold');
    expect(text).toContain('6 hit the limit');
    expect(await part.locator('[data-cost-per-fixed]').innerText()).toMatch(
      /^< \$0\.01 \$0\.00\d+$/,
    );
    const models = await page.locator('dl[aria-label="Models"]').innerText();
    for (const model of ['openai/writer', 'openai/judge', 'openai/editor'])
      expect(models).toContain(model);
    expect(await page.locator('main').innerText()).toContain('95% interval');
  });

  test('draws the mean score by round, and has it as a table', async () => {
    const frame = page.getByRole('region', { name: 'Mean score by round' });
    const label = await frame.getByRole('img').getAttribute('aria-label');
    expect(label).toBe('Mean score by round with 95% intervals: 0.45 → 0.70 → 0.75, threshold 0.8');
    expect(await frame.locator('.evals-error').count()).toBe(3);
    await frame.getByRole('button', { name: 'Table' }).click();
    const rows = await frame.locator('tbody tr').allInnerTexts();
    expect(rows.map((row) => row.split(/\s+/).slice(0, 4).join(' '))).toEqual([
      'First output 20 0.450',
      'Round 1 18 0.695',
      'Round 2 10 0.750',
    ]);
  });

  test('filters its items, and the address says how', async () => {
    for (const [filter, count] of [
      ['Fixed', 12],
      ['Worsened', 2],
      ['Hit the limit', 6],
      ['Failing', 6],
    ] as const) {
      await page.getByRole('button', { name: `${filter} ${count}`, exact: true }).click();
      await soon(async () => (await items(page)).length).toBe(count);
    }
    await page.locator('[data-refinement] [data-outcome="worsened"]').click();
    await page.waitForURL(/filter=worsened/);
    await soon(() => items(page)).toEqual(['r06', 'r16']);
    await page.getByRole('searchbox').fill('parking');
    await page.waitForURL(/q=parking/);
    await soon(() => items(page)).toEqual(['r06']);
    await page.getByRole('searchbox').fill('no such words');
    await page.getByText('No item is like that').waitFor();
    await page.getByRole('button', { name: 'Show all items' }).click();
    await soon(async () => (await items(page)).length).toBe(OUTPUTS);
    expect(await accessible(page)).toEqual([]);
    expect(complaintsOf(page)).toEqual([]);
  });

  test('keeps what failed as cases of a dataset, each with its reason', async () => {
    await page.getByRole('button', { name: 'Keep failing as cases…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Dataset').fill('kept-cases');
    expect(await accessible(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Keep them' }).click();
    await dialog.getByText('6 new cases in kept-cases, which has 6.').waitFor();
    await dialog.getByRole('link', { name: 'kept-cases' }).click();
    await heading(page, 'kept-cases');
    expect(complaintsOf(page)).toEqual([]);
  });
});

describe('the test detail', () => {
  let page: Page;
  const test_ = (item: string) => page.locator(`[data-test="${item}"]`);
  beforeAll(async () => {
    page = await open(`/evaluations/${filled().refined}?filter=fixed`);
    await page.locator('[data-item="r04"] a').click();
    await test_('r04').waitFor();
  });
  afterAll(() => close(page));

  test('shows the whole sequence: first output, each refined one, each evaluation', async () => {
    const rounds = page.locator('[data-round]:is(li)');
    expect(await rounds.count()).toBe(3);
    const [first, second, third] = await rounds.allInnerTexts();
    expect(first).toContain('First output');
    expect(first).toContain('by openai/writer');
    expect(first).toContain('Barbara, return the borrowed projector.');
    expect(first).toMatch(/0\.300\s+failed/);
    expect(first).toContain('Evaluation by openai/judge: below the threshold 0.8');
    expect(first).toContain('It is curt: greet the person.');
    expect(second).toContain('rewritten by openai/editor');
    expect(second).toMatch(/0\.600\s+\+0\.300/);
    expect(third).toContain('the answer');
    expect(third).toContain('reaches the threshold 0.8');
    expect(third).toMatch(/2 calls · 1,800 tokens in, 520 out · .*written in \d+ ms/);
    expect(await page.locator('.evals-aside').innerText()).toContain(
      'return the borrowed projector',
    );
  });

  test('marks what each round changed, and shows it as plain text too', async () => {
    const last = page.locator('li[data-round="2"]');
    expect(await last.locator('ins').allTextContents()).toEqual([' by Wednesday at 13:00']);
    expect(await last.locator('del').count()).toBe(0);
    await page.getByRole('button', { name: 'Text', exact: true }).click();
    await page.waitForURL(/view=text/);
    await last.locator('pre', { hasText: 'by Wednesday at 13:00' }).waitFor();
    expect(await last.locator('ins').count()).toBe(0);
    await page.getByRole('button', { name: 'Changes', exact: true }).click();
    await last.locator('ins').waitFor();
  });

  test('draws the score over rounds with the threshold, and says why it ended', async () => {
    const frame = page.getByRole('region', { name: 'Score by round' });
    expect(await frame.getByRole('img').getAttribute('aria-label')).toBe(
      'Score by round: 0.30 → 0.60 → 0.90, threshold 0.8',
    );
    const ended = page.getByRole('region', { name: 'How it ended' });
    expect(await ended.locator('[data-ended]').innerText()).toBe(
      'reached the threshold: 0.9 is at least the threshold 0.8',
    );
    expect(await ended.locator('[data-answer]').getAttribute('data-answer')).toBe('2');
    expect(await accessible(page)).toEqual([]);
  });

  test('goes to the next and the one before, and back to the list with its filters', async () => {
    expect(await page.locator('[data-place]').innerText()).toBe('5 of 12');
    await page.keyboard.press('j');
    await test_('r05').waitFor();
    // The next that was fixed: those between are not in the list.
    await page.keyboard.press('j');
    await test_('r10').waitFor();
    await page.keyboard.press('k');
    await test_('r05').waitFor();
    await page.keyboard.press('Escape');
    await heading(page, 'Reminders, refined');
    expect(new URL(page.url()).searchParams.get('filter')).toBe('fixed');
    await soon(async () => (await items(page)).length).toBe(12);
  });

  test('shows markup of a model as text, at night too, and fits a phone', async () => {
    const night = await open(`/evaluations/${filled().refined}/items/r06`, { theme: 'dark' });
    await night.locator('ins', { hasText: '<b>' }).first().waitFor();
    await night.getByText('There is <b>markup</b> in it now').waitFor();
    expect(await night.locator('main script').count()).toBe(0);
    expect(await night.evaluate(() => 'pwned' in window)).toBe(false);
    expect(await night.locator('[data-ended="limit"]').innerText()).toContain('hit the limit');
    expect(await accessible(night)).toEqual([]);
    await night.goto(`${inject('world').url}/evaluations/${filled().refined}`);
    await night.locator('[data-item]').first().waitFor();
    expect(await accessible(night)).toEqual([]);
    expect(complaintsOf(night)).toEqual([]);
    await close(night);
    const phone = await open(`/evaluations/${filled().refined}/items/r06`, { phone: true });
    await phone.locator('[data-test="r06"]').waitFor();
    expect(await overflows(phone)).toBe(false);
    for (const path of [`/evaluations/${filled().refined}`, '/evaluations']) {
      await phone.goto(inject('world').url + path);
      await phone.locator('[data-item], [data-evaluation]').first().waitFor();
      expect(await overflows(phone)).toBe(false);
    }
    await close(phone);
  });
});

describe('a new evaluation', () => {
  let page: Page;
  beforeAll(async () => {
    page = await open('/evaluations?new=1');
  });
  afterAll(() => close(page));

  test('offers the controls of refinement, and says where they do nothing', async () => {
    const dialog = page.getByRole('dialog', { name: 'New evaluation' });
    const versions = dialog.getByLabel('Version').locator('option');
    await soon(() => versions.allTextContents()).toContain('As burnish.toml has it');
    await dialog.getByLabel('Agent').selectOption('reminders');
    await soon(() => versions.allTextContents()).toEqual(['Active (version 1)', 'Version 1']);
    await dialog.getByLabel('Suite').selectOption('reminders-schema');
    await dialog.locator('[data-outlook="inactive"]').waitFor();
    expect(await dialog.locator('[data-outlook]').innerText()).toContain('schema mode');
    expect(await dialog.getByRole('button', { name: 'Start evaluation' }).isEnabled()).toBe(true);
    await dialog.getByLabel('Suite').selectOption('reminders');
    await dialog.locator('[data-outlook="active"]').waitFor();
    await dialog.getByLabel('Rounds at most').fill('21');
    await dialog.getByText('A whole number from 0 to 20.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Start evaluation' }).isEnabled()).toBe(false);
    await dialog.getByLabel('Rounds at most').fill('1');
    await dialog.getByRole('button', { name: 'Best' }).click();
    await dialog.getByLabel('Items at most').fill('8');
    await dialog.getByLabel('Name').fill('One round, the best counts');
    expect(await dialog.locator('[data-outlook]').innerText()).toContain('openai/editor rewrites');
    expect(await accessible(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Start evaluation' }).click();
  });

  test('runs, and the page follows it to its end', async () => {
    await heading(page, 'One round, the best counts');
    await page.locator('header').getByText('completed').waitFor();
    await page.locator('[data-refinement="active"]').waitFor();
    const text = await page.locator('[data-refinement="active"]').innerText();
    expect(text).toContain('at most 1 round, threshold 0.8');
    expect(text).toContain('the best round is the answer');
    // The worsened one keeps its first output: the best never scores less.
    await page.getByRole('button', { name: 'Worsened 0', exact: true }).waitFor();
    await soon(async () => (await items(page)).length).toBe(8);
    await page.locator('[data-item="r06"] a').click();
    const ended = page.getByRole('region', { name: 'How it ended' });
    expect(await ended.locator('[data-answer]').getAttribute('data-answer')).toBe('0');
    await page.locator('li[data-round="0"]').getByText('the answer').waitFor();
    expect(complaintsOf(page)).toEqual([]);
  });

  test('that ends between two looks has its last items too', async () => {
    const { url, folder } = inject('world');
    const speed = join(folder, 'seconds-per-item.txt');
    const usual = readFileSync(speed, 'utf8');
    onTestFinished(() => writeFileSync(speed, usual));
    writeFileSync(speed, '1.2');
    const made = await fetch(`${url}/v1/private/evaluations`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        agent: 'support',
        suite: 'tickets',
        limit: 9,
        name: 'Slow tickets',
        // Words that nobody used before: known results would come at once.
        overrides: { sections: { system: `Answer. ${Date.now()}` } },
      }),
    });
    const { experiment_id: id } = (await made.json()) as { experiment_id: string };
    // Four at a time: the page opens after the first four, and looks again after the last.
    await soon(
      async () => (await (await fetch(`${url}/v1/private/evaluations/${id}`)).json()).result,
    ).not.toBeNull();
    await page.goto(`${url}/evaluations/${id}`);
    await page.locator('header').getByText('completed').waitFor();
    await soon(async () => (await items(page)).length).toBe(9);
    expect(await page.locator('[data-progress]').count()).toBe(0);
  });

  test('is cancelled and resumed by buttons, and keeps what it has', async () => {
    const { url, folder } = inject('world');
    const speed = join(folder, 'seconds-per-item.txt');
    const usual = readFileSync(speed, 'utf8');
    onTestFinished(() => writeFileSync(speed, usual));
    // Nothing is answered before it is cancelled.
    writeFileSync(speed, '600');
    const made = await fetch(`${url}/v1/private/evaluations`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        agent: 'support',
        suite: 'tickets',
        limit: 6,
        name: 'Held tickets',
        overrides: { sections: { system: `Answer later. ${Date.now()}` } },
      }),
    });
    const { experiment_id: id } = (await made.json()) as { experiment_id: string };
    await page.goto(`${url}/evaluations/${id}`);
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.locator('header').getByText('cancelled', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Cancel', exact: true }).count()).toBe(0);
    expect(await accessible(page)).toEqual([]);
    writeFileSync(speed, '0');
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await page.locator('header').getByText('completed').waitFor();
    await soon(async () => (await items(page)).length).toBe(6);
    expect(await page.getByRole('button', { name: /Cancel|Resume/ }).count()).toBe(0);
    expect(complaintsOf(page)).toEqual([]);
  });

  test('in schema mode shows that its limit does nothing', async () => {
    await page.goto(`${inject('world').url}/evaluations/${filled().inactive}`);
    const notice = page.locator('[data-refinement="inactive"]');
    await notice.waitFor();
    expect(await notice.innerText()).toContain('A limit of 2 is set');
    await page.getByRole('link', { name: 'Run again…' }).click();
    const dialog = page.getByRole('dialog', { name: 'New evaluation' });
    await dialog.locator('[data-outlook="inactive"]').waitFor();
    expect(await dialog.getByLabel('Suite').inputValue()).toBe('reminders-schema');
  });
});
