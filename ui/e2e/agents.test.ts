/** Agents: what runs, what ran before, and the way back. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { accessible, close, complaintsOf, open, overflows } from './harness';

const AGENT = 'support';
const HOSTILE =
  'Say <b>no</b> to <script>window.pwned = 1</script> and <img src="x" onerror="pwned()">';

interface AgentAnswer {
  active_version: number;
  configuration: { sections: Record<string, string>; [rest: string]: unknown };
}

async function active(): Promise<AgentAnswer> {
  const response = await fetch(`${inject('world').url}/v1/private/agents/${AGENT}`);
  return (await response.json()) as AgentAnswer;
}

async function addVersion(system: string, author: string): Promise<number> {
  const { configuration } = await active();
  const response = await fetch(`${inject('world').url}/v1/private/agents/${AGENT}/versions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      configuration: { ...configuration, sections: { ...configuration.sections, system } },
      author,
      note: HOSTILE,
    }),
  });
  return ((await response.json()) as { version: number }).version;
}

describe('agents', () => {
  let page: Page;
  let good: number;
  let bad: number;

  beforeAll(async () => {
    good = (await active()).active_version;
    bad = await addVersion(HOSTILE, 'eve');
    page = await open('/agents');
  });
  afterAll(async () => {
    await close(page);
  });

  test('are listed, and one opens by keyboard', async () => {
    const row = page.locator('tr', { hasText: AGENT });
    await row.getByText(`version ${bad}`).waitFor();
    await row.getByText('by eve').waitFor();
    expect(await accessible(page)).toEqual([]);
    await page.keyboard.press('/');
    await page.keyboard.type(AGENT);
    await page.getByRole('searchbox').blur();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: AGENT, level: 1 }).waitFor();
  });

  test('show what runs as text, whatever it is', async () => {
    await page.locator('[data-part="system"]').getByText('<script>window.pwned').waitFor();
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
    expect(await page.locator(`[data-version="${bad}"]`).innerText()).toContain('Written by hand');
    const times = page.locator('.agents-timeline time');
    expect(await times.first().getAttribute('title')).toMatch(/\d{4}/);
  });

  test('compare any two versions, which the address names', async () => {
    await page
      .locator(`[data-version="${bad}"]`)
      .getByRole('button', { name: 'What changed' })
      .click();
    await page.getByRole('heading', { name: `Version ${bad - 1} → version ${bad}` }).waitFor();
    await page.locator('[data-part="system"] ins').first().waitFor();
    await page.getByLabel('Before').selectOption('1');
    await page.getByRole('heading', { name: `Version 1 → version ${bad}` }).waitFor();
    const { searchParams } = new URL(page.url());
    expect([searchParams.get('before'), searchParams.get('after')]).toEqual(['1', String(bad)]);
    expect(await accessible(page)).toEqual([]);
  });

  test('go back to an old version after a review, and say when it moved', async () => {
    await page.locator(`[data-version="${good}"]`).getByRole('button', { name: 'Revert' }).click();
    const dialog = page.getByRole('dialog', { name: `Revert ${AGENT} to version ${good}` });
    await dialog.getByText('What changes: 1 section').waitFor();
    await dialog.getByLabel('Your name').fill('ada');
    await dialog.getByLabel('Note').fill('That was no good');
    // Somebody else comes in between.
    const moved = await addVersion('Be kind.', 'bob');
    const revert = dialog.getByRole('button', { name: `Revert to version ${good}` });
    await revert.click();
    await dialog.getByText(`version ${bad} is no longer the active one`).waitFor();
    await dialog.getByRole('button', { name: 'Review again' }).click();
    await dialog.locator('del', { hasText: 'kind' }).waitFor();
    expect(await dialog.innerText()).toContain(`Makes version ${moved + 1}`);
    await revert.click();
    const entry = page.locator(`[data-version="${moved + 1}"]`);
    await entry.getByText(`Reverted to version ${good}`).waitFor();
    expect(await entry.getAttribute('data-active')).toBe('true');
    expect((await active()).active_version).toBe(moved + 1);
    expect(complaintsOf(page).filter((line) => !line.includes('409'))).toEqual([]);
  });

  test('are the same at night and on a phone', async () => {
    const night = await open(`/agents/${AGENT}?before=1&after=2`, { theme: 'dark' });
    await night.locator('[data-part="system"] ins').first().waitFor();
    expect(await accessible(night)).toEqual([]);
    await close(night);
    const phone = await open(`/agents/${AGENT}`, { phone: true });
    await phone.locator('[data-version="1"]').waitFor();
    expect(await overflows(phone)).toBe(false);
    await phone.goto(`${inject('world').url}/agents`);
    await phone.getByRole('link', { name: AGENT }).waitFor();
    expect(await overflows(phone)).toBe(false);
    await close(phone);
  });
});
