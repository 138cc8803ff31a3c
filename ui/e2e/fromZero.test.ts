/** From an empty folder to a promoted winner, without a file and without a key. */
import { readdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  accessible,
  close,
  complaintsOf,
  open,
  overflows,
  startWorld,
  type World,
} from './harness';

const MODEL = 'openai/learner';
const ROWS = Array.from({ length: 30 }, (_, n) => ({
  text: `the ${n % 2 === 0 ? 'invoice' : 'error'} of customer ${n}`,
  label: n % 2 === 0 ? 'billing' : 'technical',
}));

describe('an empty folder', () => {
  let world: World;
  let page: Page;

  beforeAll(async () => {
    world = await startWorld({ flags: ['--empty'] });
    page = await open('/', { on: world, alone: true });
  });
  afterAll(async () => {
    await close(page);
    await world.stop();
  });

  const at = (path: string) => page.waitForURL((url) => url.pathname === path);

  test('begins with a page that leads through it', async () => {
    await at('/start');
    await page.getByText('This folder has no agent in a burnish.toml').waitFor();
    await page.getByRole('heading', { name: 'An example that needs no key' }).waitFor();
    await page.getByRole('heading', { name: 'Make an agent' }).waitFor();
    expect(await accessible(page)).toEqual([]);
    await page.goto(`${world.url}/runs?new=1`);
    await page.getByText('This needs an agent').waitFor();
    await page.goto(`${world.url}/suites`);
    await page.getByRole('button', { name: 'Upload a dataset for it' }).waitFor();
    await page.goto(`${world.url}/suites?new=suite`);
    await page.getByRole('link', { name: 'Upload one' }).waitFor();
    await page.goto(`${world.url}/optimizers`);
    await page.getByRole('link', { name: 'Make the agent that it improves' }).waitFor();
    await page.goto(`${world.url}/start`);
  });

  test('gets an agent, which is tried before it is made', async () => {
    await page.getByRole('link', { name: 'New agent' }).click();
    const dialog = page.getByRole('dialog', { name: 'New agent' });
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('router');
    await dialog.getByLabel('Model', { exact: true }).selectOption('Another model by its name…');
    await dialog.getByLabel('Name of the model').fill(MODEL);
    await dialog.getByText('its price is unknown').waitFor();
    await dialog.getByLabel('Text of system').fill('Which team?');
    await dialog.getByLabel('Text of user').fill('no placeholder');
    await dialog.getByText('No section holds a placeholder').waitFor();
    await dialog.getByLabel('Text of user').fill('{{text}}');
    await dialog.getByRole('button', { name: 'One of some labels' }).click();
    await dialog.getByLabel('Labels').fill('billing\ntechnical');
    await dialog.getByLabel('Input text').fill('the invoice is wrong');
    await dialog.getByRole('button', { name: 'Try it' }).click();
    await dialog.locator('.agents-answer', { hasText: 'technical' }).waitFor();
    expect(await accessible(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Make agent' }).click();
    await at('/agents/router');
    await page.getByText('version 1').first().waitFor();
  });

  test('gets a new version of the prompt after a look at the difference', async () => {
    await page.getByRole('button', { name: 'Edit or try…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit the prompt of router' });
    await dialog.getByLabel('Text of system').fill('Which team is to answer?');
    await dialog.getByRole('button', { name: 'Review the change' }).click();
    await dialog.locator('ins', { hasText: 'is to answer' }).waitFor();
    await dialog.getByLabel('Your name').fill('ada');
    expect(await accessible(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save as a new version' }).click();
    await page.locator('[data-version="2"][data-active="true"]').waitFor();
  });

  test('gets items and a suite', async () => {
    await page.goto(`${world.url}/suites?new=dataset`);
    const upload = page.getByRole('dialog', { name: 'Upload dataset' });
    await upload.locator('input[type=file]').setInputFiles({
      name: 'tickets.jsonl',
      mimeType: 'application/x-ndjson',
      buffer: Buffer.from(ROWS.map((row) => JSON.stringify(row)).join('\n')),
    });
    await upload.getByRole('button', { name: 'Upload' }).click();
    await upload.getByRole('link', { name: 'Make a suite of it' }).click();
    const suite = page.getByRole('dialog', { name: 'New suite' });
    await suite.getByRole('textbox', { name: 'Name' }).first().fill('tickets');
    await suite.getByRole('combobox', { name: 'Field' }).selectOption('label');
    await suite.getByRole('button', { name: 'Save suite' }).click();
    await at('/suites/tickets');
    await page.getByText('Items (30)').waitFor();
  });

  test('is evaluated', async () => {
    await page.goto(`${world.url}/evaluations?new=1`);
    await page.getByRole('button', { name: 'Start evaluation' }).click();
    await page.waitForURL(/\/evaluations\/[0-9a-f-]{36}/);
    await page.getByText('0.500').first().waitFor();
  });

  test('gets a better prompt, which is promoted', async () => {
    await page.goto(`${world.url}/runs?new=1`);
    const dialog = page.getByRole('dialog', { name: 'New run' });
    await dialog.getByLabel('Optimizer', { exact: true }).selectOption('few_shot');
    await dialog.getByLabel('Max trials').fill('4');
    await dialog.getByRole('button', { name: 'Start run' }).click();
    await page.waitForURL(/\/runs\/[0-9a-f-]{36}/);
    await page.getByRole('link', { name: 'Promote' }).click();
    await page.waitForURL(/\/candidates\//);
    const promote = page.getByRole('dialog', { name: /^Promote candidate/ });
    await promote.getByRole('button', { name: 'Next: evidence' }).click();
    await promote.getByRole('button', { name: 'Next: confirm' }).click();
    await promote.getByLabel('Your name').fill('ada');
    await promote.getByRole('button', { name: /^Make it version/ }).click();
    await expect
      .poll(async () => {
        const agent = await fetch(`${world.url}/v1/private/agents/router`);
        return ((await agent.json()) as { active_version: number }).active_version;
      })
      .toBe(3);
  });

  test('compares runs side by side', async () => {
    const list = await fetch(`${world.url}/v1/private/optimizations`);
    const [run] = ((await list.json()) as { items: { optimization_id: string }[] }).items;
    await fetch(`${world.url}/v1/private/optimizations/${run?.optimization_id}/duplicate`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'again' }),
    });
    await page.goto(`${world.url}/runs`);
    const boxes = page.getByRole('checkbox', { name: /^Compare/ });
    await boxes.nth(1).check();
    await boxes.nth(0).check();
    await page.getByRole('link', { name: 'Compare them' }).click();
    await page.getByRole('row', { name: /^Best, on held-out items/ }).waitFor();
    await page.getByRole('heading', { name: 'Prompts of the best' }).waitFor();
    expect(await accessible(page)).toEqual([]);
  });

  test('fits a phone', async () => {
    const phone = await open('/start', { on: world, alone: true, phone: true });
    await phone.getByRole('heading', { name: 'Make an agent' }).waitFor();
    expect(await overflows(phone)).toBe(false);
    await phone.goto(`${world.url}/agents/router?edit=1`);
    await phone.getByLabel('Text of system').waitFor();
    expect(await overflows(phone)).toBe(false);
    await close(phone);
  });

  test('lets go of what nothing uses, and says what still does', async () => {
    await page.goto(`${world.url}/suites/tickets`);
    const used = await page.getByRole('link', { name: '30 items' }).getAttribute('href');
    await page.goto(world.url + used);
    await page.getByRole('button', { name: 'Delete…' }).click();
    const question = page.getByRole('dialog', { name: 'Delete the dataset tickets?' });
    await question.getByRole('button', { name: 'Delete', exact: true }).click();
    await question.getByText("the suite 'tickets' takes its items from it").waitFor();
    expect(await accessible(page)).toEqual([]);
    await question.getByRole('button', { name: 'Keep it' }).click();
    await page.goto(`${world.url}/agents/router`);
    await page.getByRole('button', { name: 'Delete…' }).click();
    const goes = page.getByRole('dialog', { name: 'Delete the agent router?' });
    const confirm = goes.getByRole('button', { name: 'Delete', exact: true });
    await confirm.click();
    await goes.getByText("the run 'again' has not ended").waitFor();
    const runs = `${world.url}/v1/private/optimizations`;
    const copies = (await (await fetch(`${runs}?q=again`)).json()) as {
      items: { optimization_id: string }[];
    };
    await fetch(`${runs}/${copies.items[0]?.optimization_id}/cancel`, { method: 'POST' });
    await confirm.click();
    await at('/agents');
    await page.getByText('No agents yet').waitFor();
  });

  test('has touched no file, and complains about nothing', async () => {
    expect(readdirSync(world.folder).sort()).toEqual(['.burnish', 'serve.log']);
    expect(complaintsOf(page).filter((line) => !line.includes('409'))).toEqual([]);
  });
});
