/** A run that is started in the browser and watched: with events, without them, and without a server. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { close, open, startWorld, type World } from './harness';

const SLOW = '0.08';
const WAIT = { timeout: 300_000, interval: 150 };

/** A world without runs: it has the marker of one that is filled, and no database. */
function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'burnish-live-'));
  copyFileSync(join(inject('world').folder, 'filled.json'), join(folder, 'filled.json'));
  return folder;
}

const hint = (page: Page) => page.locator('[data-live]').first().getAttribute('data-live');
const marks = async (page: Page) =>
  Number(await page.locator('[data-marks]').first().getAttribute('data-marks'));

async function status(page: Page): Promise<string> {
  return await page.locator('.page-head .badge').first().innerText();
}

/** The numbers of all events that the page shows, the oldest first. */
async function eventNumbers(page: Page): Promise<number[]> {
  const ids = await page
    .locator('[data-event]')
    .evaluateAll((all) => all.map((one) => Number(one.getAttribute('data-event'))));
  return ids.reverse();
}

describe('a run that is watched', () => {
  let world: World;
  let page: Page;
  let run: string;

  const speed = (seconds: string) =>
    writeFileSync(join(world.folder, 'seconds-per-item.txt'), seconds);

  beforeAll(async () => {
    world = await startWorld({ folder: emptyFolder(), flags: ['--slow', SLOW] });
    page = await open('/runs', { on: world });
  });
  afterAll(async () => {
    await close(page);
    await world?.stop();
    if (world) rmSync(world.folder, { recursive: true, force: true });
  });

  test('is started from the list and grows without a reload', async () => {
    await page.getByText('No runs yet').waitFor();
    await page.getByRole('button', { name: 'New run' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Watched');
    await dialog.getByLabel('Optimizer', { exact: true }).selectOption('edits');
    await dialog.getByText('Settings of edits').click();
    // It is not to end by itself before it is stopped.
    await dialog.getByLabel('Patience').fill('500');
    await dialog.getByLabel('Max trials').fill('60');
    await dialog.getByLabel('Max evaluations').fill('9000');
    await dialog.getByRole('group', { name: 'Estimate' }).waitFor();

    await dialog.getByRole('button', { name: 'Start run' }).click();

    await page.waitForURL(/\/runs\/[0-9a-f-]{36}/);
    run = /\/runs\/([0-9a-f-]{36})/.exec(page.url())?.[1] ?? '';
    await page.evaluate(() => Object.assign(window, { notReloaded: true }));
    await expect.poll(() => hint(page), WAIT).toBe('live');
    await expect.poll(() => status(page), WAIT).toBe('running');
    await expect.poll(() => marks(page), WAIT).toBeGreaterThan(0);
    const before = await marks(page);
    await expect.poll(() => marks(page), WAIT).toBeGreaterThan(before);
  });

  test('goes on by polling where no stream gets through, and says so', async () => {
    const other = await open('/runs', { on: world });
    await expect.poll(() => hint(other), WAIT).toBe('live');
    await other.route('**/events*', (route) => route.abort());
    await other.goto(`${world.url}/runs/${run}`);
    await expect.poll(() => hint(other), WAIT).toBe('polling');
    await other.getByText('No live connection: asking every few seconds').waitFor();
    await expect.poll(() => marks(other), WAIT).toBeGreaterThan(0);
    const before = await marks(other);

    await expect.poll(() => marks(other), WAIT).toBeGreaterThan(before);
    await close(other);
  });

  test('says when the server is lost, and has every event once it is back', async () => {
    await page.getByRole('tab', { name: 'Events' }).click();
    await page.locator('[data-event]').first().waitFor();
    const { folder, port } = world;

    await world.stop();
    await expect.poll(() => hint(page), WAIT).toBe('polling');
    world = await startWorld({ folder, port, flags: ['--slow', SLOW] });

    await expect.poll(() => hint(page), WAIT).toBe('live');
    const last = Math.max(...(await eventNumbers(page)));
    await expect
      .poll(async () => Math.max(...(await eventNumbers(page))), WAIT)
      .toBeGreaterThan(last);
    const numbers = await eventNumbers(page);
    expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
    expect(await page.evaluate(() => 'notReloaded' in window)).toBe(true);
  });

  test('is stopped after a question, and goes on to the end in a copy', async () => {
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop the run' }).click();
    await expect.poll(() => status(page), WAIT).toBe('cancelled');
    await page.getByText('This run was stopped').waitFor();
    speed('0');

    await page.getByRole('button', { name: 'Go on in a copy' }).click();

    await page.waitForURL((url) => url.pathname !== `/runs/${run}`);
    await expect.poll(() => status(page), WAIT).toBe('completed');
    await page.getByRole('list', { name: 'Budget' }).getByText('60 of 60').waitFor();
  });

  /** A run that nobody has started, open on the page. */
  const openMade = async () => {
    const made = await fetch(`${world.url}/v1/private/optimizations`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        start: false,
        optimizer: { name: 'edits' },
        budget: { max_trials: 2 },
      }),
    });
    const { optimization_id: id } = (await made.json()) as { optimization_id: string };
    await page.goto(`${world.url}/runs/${id}`);
    await page.getByText('This run has not begun').waitFor();
  };

  test('that failed says why, and is resumed once that is mended', async () => {
    const agent = join(world.folder, 'support_agent.py');
    const good = readFileSync(agent, 'utf8');
    await openMade();
    writeFileSync(agent, `${good}\nCHANGED = True\n`);
    try {
      await page.getByRole('button', { name: 'Start', exact: true }).click();
      await expect.poll(() => status(page), WAIT).toBe('failed');
      await page.getByText(/has changed since it was started/).waitFor();
    } finally {
      writeFileSync(agent, good);
    }

    await page.getByRole('button', { name: 'Resume' }).click();

    await expect.poll(() => status(page), WAIT).toBe('completed');
    await page.getByRole('list', { name: 'Budget' }).getByText('2 of 2').waitFor();
  });

  test('that was only made is started by hand, and shows its end by itself', async () => {
    await openMade();

    await page.getByRole('button', { name: 'Start', exact: true }).click();

    await expect.poll(() => status(page), WAIT).toBe('completed');
    await page.getByRole('list', { name: 'Budget' }).getByText('2 of 2').waitFor();
    await page.getByRole('heading', { name: /^Winner/ }).waitFor();
    expect(await page.locator('[data-live]').count()).toBe(0);
  });
});
