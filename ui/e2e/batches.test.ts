/** Batches at a vendor that stay in progress: what is waited for, and the end by itself. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { accessible, close, complaintsOf, open } from './harness';

/** Words that nobody used before: known answers would come at once. */
const NAME = `patient-${Date.now()}`;
const ITEMS = 4;

describe('batches that are waited for', () => {
  let page: Page;
  let evaluation: string;
  let run: string;
  const { url, folder } = inject('world');
  const held = join(folder, 'hold-batches');

  const post = async (path: string, body: object): Promise<Record<string, string>> => {
    const made = await fetch(`${url}/v1/private/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(made.ok, await made.clone().text()).toBe(true);
    return (await made.json()) as Record<string, string>;
  };
  const status = () => page.locator('.page-head .badge').first().innerText();
  const batches = () => page.getByRole('status', { name: 'Batches' });
  const stay = () => page.evaluate(() => Object.assign(window, { notReloaded: true }));
  const stayed = () => page.evaluate(() => 'notReloaded' in window);

  /** The line of a batch, whose time is that of the API. */
  const shown = async (path: string): Promise<string> => {
    await batches()
      .getByText(/0 of \d+ answered/)
      .waitFor();
    const since = await batches().locator('time').first().getAttribute('datetime');
    const view = await fetch(`${url}/v1/private/${path}`);
    const { waiting } = (await view.json()) as { waiting: { since: string }[] };
    expect(waiting.map((one) => one.since)).toContain(since);
    return await batches().innerText();
  };

  beforeAll(async () => {
    writeFileSync(held, '');
    page = await open('/');
    const configuration = { sections: { system: `Answer as ${NAME}.`, user: '{{message}}' } };
    await post('agents', { name: NAME, model: 'openai/patient', author: 'ada', configuration });
    // One question goes by itself: nobody waits a day to try a prompt.
    const tried = { agent: NAME, configuration, input: { message: 'Is it open?' } };
    expect(await post('agents/try', tried)).toMatchObject({ text: 'fine' });
    const overrides = { sections: { system: `Answer for ${NAME}.` } };
    const asked = { agent: NAME, limit: ITEMS, overrides };
    evaluation = (await post('evaluations', asked)).experiment_id ?? '';
    const search = { agent: NAME, optimizer: { name: 'edits' }, budget: { max_trials: 1 } };
    run = (await post('optimizations', search)).optimization_id ?? '';
  });
  afterAll(async () => {
    rmSync(held, { force: true });
    await close(page);
    await fetch(`${url}/v1/private/agents/${NAME}`, { method: 'DELETE' });
  });

  test('are told of a run', async () => {
    await page.goto(`${url}/runs/${run}`);

    expect(await shown(`optimizations/${run}`)).toMatch(
      /^Waits for batches\s+\d+ requests of openai\/patient, sent .+: 0 of \d+ answered\s+batch_\d+/,
    );
    expect(await status()).toBe('running');
  });

  test('are told of an evaluation, which ends on the page once they do', async () => {
    await page.goto(`${url}/evaluations/${evaluation}`);
    await stay();

    expect(await shown(`evaluations/${evaluation}`)).toMatch(
      /^Waits for batches\s+4 requests of openai\/patient, sent .+: 0 of 4 answered\s+batch_\d+$/,
    );
    expect(await status()).toBe('running');
    expect(await accessible(page)).toEqual([]);
    rmSync(held);

    await expect.poll(status).toBe('completed');
    await expect.poll(() => page.locator('[data-item]').count()).toBe(ITEMS);
    expect(await batches().count()).toBe(0);
    expect(await stayed()).toBe(true);
  });

  test('of a run end, and its page has the result', async () => {
    await page.goto(`${url}/runs/${run}`);
    await stay();

    await expect.poll(status).toBe('completed');
    await expect.poll(() => batches().count()).toBe(0);
    await page.getByRole('list', { name: 'Budget' }).getByText('1 of 1').waitFor();
    expect(await stayed()).toBe(true);
    expect(complaintsOf(page)).toEqual([]);
  });
});
