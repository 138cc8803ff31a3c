/** Optimizers, suites, datasets and the report of a compression. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, expect, inject, it } from 'vitest';
import { accessible, close, complaintsOf, open, overflows } from './harness';

let page: Page;
afterEach(async () => await close(page));

async function ids(): Promise<Record<string, string>> {
  const text = await readFile(join(inject('world').folder, 'filled.json'), 'utf8');
  return JSON.parse(text) as Record<string, string>;
}

it('saves an optimizer once its mistakes are mended, and runs it', async () => {
  page = await open('/optimizers');
  await page.getByRole('link', { name: 'New optimizer' }).click();
  const name = `e2e-${Date.now()}`;
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Optimizer', { exact: true }).selectOption('edits');
  await page.getByLabel('Patience').fill('0.5');
  await page.getByText('This has to be a whole number.').waitFor();
  const save = page.getByRole('button', { name: 'Save optimizer' });
  expect(await save.isDisabled()).toBe(true);
  await page.getByLabel('Patience').fill('2');
  await page.getByLabel('Max trials').fill('2');
  await page.getByLabel('Max evaluations').fill('');
  // The server's own check comes back beside its field, too.
  await page.getByLabel('Runs').selectOption('own');
  await page.getByLabel('Schedule', { exact: true }).fill('99 2 * * *');
  await page.getByRole('alert').filter({ hasText: 'schedule' }).waitFor();
  await page.getByLabel('Schedule', { exact: true }).fill('0 3 * * 1');
  await page.getByText('Every Monday at 03:00 (UTC)').waitFor();
  await page.getByRole('group', { name: 'Estimate' }).waitFor();
  expect(await accessible(page)).toEqual([]);
  await save.click();
  await page.getByRole('heading', { name, level: 1 }).waitFor();
  await page.getByText('Every Monday at 03:00 (UTC)').first().waitFor();
  await page.getByRole('button', { name: 'Run now' }).click();
  await page.waitForURL(/\/runs\/[0-9a-f-]{36}/);
  await page.goBack();
  await page.getByRole('tab', { name: 'Past runs' }).click();
  await page.getByText('version 1').first().waitFor();
  expect(complaintsOf(page).filter((line) => !line.includes('422'))).toEqual([]);
});

it('names every bad row of an upload, stores the right file, and makes a suite of it', async () => {
  page = await open('/suites');
  await page.getByRole('button', { name: 'Upload dataset' }).click();
  const dialog = page.getByRole('dialog');
  const file = dialog.locator('input[type=file]');
  await file.setInputFiles({
    name: 'cases.jsonl',
    mimeType: 'application/x-ndjson',
    buffer: Buffer.from('{"message": "a", "expected": "b"}\n{broken\n[1]\n'),
  });
  await dialog.getByRole('button', { name: 'Upload' }).click();
  await dialog.getByText('Nothing was stored: 2 rows cannot be used').waitFor();
  await dialog.getByText('line 2', { exact: false }).first().waitFor();
  await dialog.getByText('line 3', { exact: false }).first().waitFor();
  const name = `cases-${Date.now()}`;
  const evil = '<img src=x onerror="document.title=1">';
  const rows = Array.from({ length: 12 }, (_, n) =>
    JSON.stringify({ id: `case-${n}`, message: n === 0 ? evil : `question ${n}`, expected: 'yes' }),
  );
  await file.setInputFiles({
    name: 'cases.jsonl',
    mimeType: 'application/x-ndjson',
    buffer: Buffer.from(rows.join('\n')),
  });
  await dialog.getByRole('textbox', { name: 'Name' }).fill(name);
  await dialog.getByRole('button', { name: 'Upload' }).click();
  await dialog.getByText('12 items stored').waitFor();
  await dialog.getByRole('link', { name: 'Make a suite of it' }).click();
  const suite = page.getByRole('dialog', { name: 'New suite' });
  await suite.getByRole('textbox', { name: 'Name' }).first().fill(name);
  await suite.getByLabel('Test').fill('0.5');
  await suite.getByText('The shares sum up to 1.3').waitFor();
  await suite.getByLabel('Test').fill('');
  await suite.getByRole('button', { name: 'Save suite' }).click();
  await page.getByRole('heading', { name, level: 1 }).waitFor();
  await page.getByText('Items (12)').waitFor();
  await page.getByText(evil).waitFor();
  expect(await page.title()).toBe(`${name} · Burnish`);
  await page.getByLabel('Search items').fill('question 7');
  await page.getByText('Items (1)').waitFor();
  await page.keyboard.press('Escape');
  expect(await accessible(page)).toEqual([]);
});

it('shows items with their splits, on a phone and in the dark, too', async () => {
  page = await open('/suites/tickets', { phone: true, theme: 'dark' });
  await page.getByText('Items (100 of 160)').waitFor();
  expect(await overflows(page)).toBe(false);
  expect(await accessible(page)).toEqual([]);
  await page.getByRole('button', { name: 'test', exact: true }).click();
  await page.getByText('Items (40)').waitFor();
  expect(new URL(page.url()).searchParams.get('split')).toBe('test');
  await page.getByRole('button', { name: 'test-000' }).click();
  await page.getByRole('dialog', { name: 'test-000' }).waitFor();
});

it('has its title beside or above the search on a phone', async () => {
  page = await open('/optimizers', { phone: true });
  const title = page.getByRole('heading', { name: 'Optimizers', level: 1 });
  await page.getByRole('link', { name: 'New optimizer' }).waitFor();
  const [above, below] = [
    await title.boundingBox(),
    await page.getByLabel('Search optimizers').boundingBox(),
  ];
  expect(above!.y + above!.height <= below!.y || above!.x + above!.width <= below!.x).toBe(true);
  expect(await overflows(page)).toBe(false);
});

it('reports what a compression cut and what it may not', async () => {
  const { compress } = await ids();
  page = await open(`/runs/${compress}?tab=compression`);
  await page.getByRole('heading', { name: 'Kept cuts' }).waitFor();
  const report = await page.evaluate(
    async (id) => (await fetch(`/v1/private/optimizations/${id}/compression`)).json(),
    compress,
  );
  await page.getByText(`${report.tokens.before} → ${report.tokens.after}`).first().waitFor();
  await page.getByRole('heading', { name: `Refused cuts (${report.rejected.length})` }).waitFor();
  const item = report.rejected[0].item_ids[0] as string;
  await page.getByRole('link', { name: item }).first().click();
  await page.waitForURL(/\/candidates\//);
  expect(new URL(page.url()).searchParams.get('item')).toBe(item);
  await page.goBack();
  await page.getByRole('heading', { name: 'Kept cuts' }).waitFor();
  expect(await accessible(page)).toEqual([]);
  expect(complaintsOf(page)).toEqual([]);
});
