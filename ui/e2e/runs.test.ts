/** The list of runs and the page of one: what they show and where they lead. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { accessible, close, complaintsOf, open, overflows } from './harness';

function filled(): Record<string, string> {
  return JSON.parse(readFileSync(join(inject('world').folder, 'filled.json'), 'utf8'));
}

const names = (page: Page) => page.locator('[data-run] a').allTextContents();

describe('the list of runs', () => {
  let page: Page;
  beforeAll(async () => {
    page = await open('/');
    await page.locator('[data-run]').first().waitFor();
  });
  afterAll(() => close(page));

  test('shows each with its status, best, change, trials, cost and duration', async () => {
    const row = page.locator(`[data-run="${filled().gepa}"]`);

    const text = await row.innerText();

    expect(page.url()).toContain('/runs');
    expect(text).toMatch(/completed/);
    expect(text).toMatch(/gepa/);
    expect(text).toMatch(/\+0\.\d{3} \(0\.\d{3} to 0\.\d{3}\)/);
    expect(text).toMatch(/\$\d+\.\d\d/);
    expect(await row.locator('svg[role=img]').getAttribute('aria-label')).toMatch(
      /Best score from 0\.\d+ to 0\.\d+ over [\d,]+ evaluations/,
    );
  });

  test('keeps search, filters and sorting in the address', async () => {
    await page.keyboard.press('/');
    await page.keyboard.type('reflection');
    await page.waitForURL(/q=reflection/);
    await expect.poll(() => names(page)).toEqual(['Reflection on tickets']);

    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('button', { name: /^failed/ }).click();
    await page.waitForURL(/status=failed/);
    await expect.poll(() => names(page)).toEqual(['Its model is gone']);

    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.waitForURL(/sort=name/);
    await expect
      .poll(() => names(page))
      .toSatisfy((all: string[]) => all.length > 3 && all.join() === [...all].sort().join());
    await page.goto(page.url().replace('sort=name', 'q=nothing-like-it'));
    await page.getByText('No run matches').waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await page.locator('[data-run]').first().waitFor();
  });

  test('says at the field what is wrong with a new run, and what a right one would cost', async () => {
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Max trials').fill('-3');
    await dialog.getByText('This has to be 0 or more.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Start run' }).isDisabled()).toBe(true);

    await dialog.getByLabel('Max trials').fill('5');
    const estimate = dialog.getByRole('group', { name: 'Estimate' });
    await expect.poll(() => estimate.innerText()).toMatch(/Trials, at most\s+5\b/);
    expect(await estimate.innerText()).toMatch(/Cost, about/);
    expect(await accessible(page)).toEqual([]);

    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  test('has nothing serious for axe, and opens a row by keys', async () => {
    expect(await accessible(page)).toEqual([]);
    await page.locator('body').press('j');
    await page.keyboard.press('j');
    const second = await page.locator('[data-run]').nth(1).getAttribute('data-run');

    await page.keyboard.press('Enter');

    await page.waitForURL(new RegExp(`/runs/${second}`));
    await page.getByRole('navigation', { name: 'Where this is' }).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL(/\/runs$/);
    expect(complaintsOf(page)).toEqual([]);
  });
});

describe('the page of a run', () => {
  test('shows the winner with its evidence, the spend, and the way to promote it', async () => {
    const { gepa } = filled();
    const page = await open(`/runs/${gepa}`, { theme: 'dark' });

    const evidence = page.locator('[data-evidence=proven]');
    await evidence.waitFor();

    expect(await evidence.innerText()).toMatch(
      /\+\d+ points on \d+ held-out items\s+proven[^]*95% interval \+\d+ to \+\d+ points, p [<=] 0/,
    );
    expect(await page.getByRole('link', { name: 'Promote' }).getAttribute('href')).toMatch(
      new RegExp(`/runs/${gepa}/candidates/.+\\?promote=1$`),
    );
    const spend = page.getByRole('list', { name: 'Spend by purpose' });
    expect(await spend.innerText()).toMatch(/Optimizer[^]*Agent|Agent[^]*Optimizer/);
    expect(await page.getByRole('list', { name: 'Budget' }).innerText()).toMatch(
      /of 26 · \d+ left/,
    );
    await page.locator('[data-marks]').first().waitFor();
    expect(await accessible(page)).toEqual([]);

    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Report' }).click();
    expect((await saved).suggestedFilename()).toBe('Reflection-on-tickets.html');

    await page.getByRole('tab', { name: 'Events' }).click();
    await page.waitForURL(/tab=events/);
    await page.locator('[data-event]').first().waitFor();
    await page.getByLabel('Which events').selectOption('best_candidate_changed');
    await page.waitForURL(/event=best_candidate_changed/);
    await expect
      .poll(() => page.locator('[data-event]').allInnerTexts())
      .toSatisfy((all: string[]) => all.length > 0 && all.every((one) => /is the best/.test(one)));
    await page.getByRole('tab', { name: /^Rejections/ }).click();
    await page.getByRole('heading', { name: 'Refused proposals' }).waitFor();
    expect(complaintsOf(page)).toEqual([]);
    await close(page);
  });

  test('says why a run is empty, failed or stopped, and fits a phone', async () => {
    const { failed, empty, cancelled, gepa } = filled();
    const page = await open(`/runs/${failed}`, { phone: true });
    await page.getByRole('alert').getByText('This run failed').waitFor();
    expect(await page.getByRole('alert').innerText()).toMatch(/cannot be reached/);
    await page.getByRole('button', { name: 'Resume' }).waitFor();

    await page.goto(`${inject('world').url}/runs/${empty}`);
    await page.getByText('This run has not begun').waitFor();
    await page.getByRole('button', { name: 'Start', exact: true }).waitFor();

    await page.goto(`${inject('world').url}/runs/${cancelled}`);
    await page.getByText('This run was stopped').waitFor();
    await page.getByRole('button', { name: 'Go on in a copy' }).waitFor();

    await page.goto(`${inject('world').url}/runs/${gepa}?tab=events`);
    await page.locator('[data-event]').first().waitFor();
    expect(await overflows(page)).toBe(false);
    await page.goto(`${inject('world').url}/runs`);
    await page.locator('[data-run]').first().waitFor();
    expect(await overflows(page)).toBe(false);
    expect(await accessible(page)).toEqual([]);
    expect(complaintsOf(page)).toEqual([]);
    await close(page);
  });
});
