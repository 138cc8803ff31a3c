/** Pictures of every screen, in light and dark, for the documentation: `make screenshots`. */
import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, inject, it } from 'vitest';
import { close, complaintsOf, open } from './harness';

const FOLDER = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..', 'docs', 'screenshots');

interface Shot {
  name: string;
  path: string;
  /** What has to be there before the picture is taken. */
  shows: string;
  phone?: boolean;
  /** Taller than a screen, where all of it is to be seen. */
  height?: number;
  /** Where to scroll to. */
  at?: string;
}

async function shots(): Promise<Shot[]> {
  const { url, folder } = inject('world');
  const ids = JSON.parse(await readFile(join(folder, 'filled.json'), 'utf8')) as Record<
    string,
    string
  >;
  const best = async (id?: string): Promise<string> => {
    const answer = await fetch(`${url}/v1/private/optimizations/${id}`);
    const { best_candidate_id } = (await answer.json()) as { best_candidate_id: string };
    return `/runs/${id}/candidates/${best_candidate_id}`;
  };
  const refined = `/evaluations/${ids.refined}`;
  const items = (await (
    await fetch(`${url}/v1/private${refined}/items?outcome=fixed&limit=1`)
  ).json()) as { items: { item_id: string }[] };
  const at = `/runs/${ids.gepa}`;
  const pictures = `/workbench/${ids.image_project}`;
  const candidate = await best(ids.gepa);
  return [
    { name: 'runs', path: '/runs', shows: 'table' },
    { name: 'runs-phone', path: '/runs', shows: 'h1', phone: true },
    { name: 'new-run', path: '/runs?new=1', shows: '[aria-label=Estimate]' },
    { name: 'run', path: at, shows: '[data-panel]', height: 1440 },
    { name: 'run-score', path: `${at}?tab=score`, shows: '[data-panel]', at: '[role=tabpanel]' },
    {
      name: 'run-lineage',
      path: `${at}?tab=lineage`,
      shows: '.react-flow__node',
      at: '[role=tabpanel]',
    },
    {
      name: 'run-trials',
      path: `${at}?tab=trials`,
      shows: '[role=tabpanel] [data-row]',
      at: '[role=tabpanel]',
    },
    { name: 'run-pareto', path: `${at}?tab=pareto`, shows: '[data-panel]', at: '[role=tabpanel]' },
    {
      name: 'run-rejections',
      path: `${at}?tab=rejections`,
      shows: '[role=tabpanel] table',
      at: '[role=tabpanel]',
    },
    {
      name: 'run-events',
      path: `${at}?tab=events`,
      shows: '[role=tabpanel] time',
      at: '[role=tabpanel]',
    },
    { name: 'run-phone', path: at, shows: '[data-panel]', phone: true },
    { name: 'run-failed', path: `/runs/${ids.failed}`, shows: '.notice' },
    { name: 'candidate', path: candidate, shows: '.diff' },
    { name: 'candidate-items', path: `${candidate}?tab=items`, shows: '[data-row]' },
    // Not the one of the line above: that one is active already.
    {
      name: 'promote',
      path: `${await best(ids.compress)}?promote=1`,
      shows: 'dialog[open] form, dialog[open] .diff',
    },
    {
      name: 'compression',
      path: `/runs/${ids.compress}?tab=compression`,
      shows: '.compression-bars',
      at: '[role=tabpanel]',
    },
    { name: 'agents', path: '/agents', shows: 'table' },
    { name: 'agent', path: '/agents/support', shows: 'pre' },
    { name: 'optimizers', path: '/optimizers', shows: 'table' },
    { name: 'optimizer', path: '/optimizers/support/nightly', shows: '[aria-label=Estimate]' },
    { name: 'data', path: '/suites', shows: 'table' },
    { name: 'suite', path: '/suites/tickets', shows: '[data-row]' },
    { name: 'evaluations', path: '/evaluations', shows: 'table' },
    { name: 'evaluation', path: refined, shows: 'table' },
    {
      name: 'test-detail',
      path: `${refined}/items/${encodeURIComponent(items.items[0]?.item_id ?? '')}`,
      shows: '.diff',
    },
    { name: 'images-projects', path: '/workbench', shows: '.project img' },
    {
      name: 'images-history',
      path: `${pictures}?commit=${ids.image_best}`,
      shows: '.commit-large img',
    },
    { name: 'images-runs', path: `${pictures}?tab=runs`, shows: '[data-run]' },
    {
      name: 'images-workbench',
      path: `${pictures}/eval?run=${ids.image_next_run}`,
      shows: '[data-rank] img',
      height: 1640,
    },
    {
      name: 'images-degraded',
      path: `${pictures}/eval?run=${ids.image_degraded}`,
      shows: '[data-rank] img',
    },
    {
      name: 'images-compare',
      path: `${pictures}/compare?left=${ids.image_anchor}&right=${ids.image_best}`,
      shows: '[data-rubric]',
      height: 1500,
    },
    {
      name: 'images-phone',
      path: `${pictures}/eval?run=${ids.image_next_run}`,
      shows: '[data-rank] img',
      phone: true,
      at: '[data-stage]',
    },
  ];
}

async function take(shot: Shot, theme: 'light' | 'dark'): Promise<string[]> {
  const page: Page = await open(shot.path, { theme, phone: shot.phone ?? false });
  if (shot.height) await page.setViewportSize({ width: 1440, height: shot.height });
  try {
    await page.locator(shot.shows).first().waitFor({ timeout: 20_000 });
    await page.waitForLoadState('networkidle');
    if (shot.at) await page.locator(shot.at).first().scrollIntoViewIfNeeded();
    if (shot.at)
      await page
        .locator(shot.at)
        .first()
        .evaluate((element) => element.scrollIntoView());
    await page.waitForTimeout(400);
    await page.screenshot({ path: join(FOLDER, `${shot.name}-${theme}.png`) });
    return complaintsOf(page);
  } finally {
    await close(page);
  }
}

it('takes a picture of every screen, and none complains', { timeout: 600_000 }, async () => {
  mkdirSync(FOLDER, { recursive: true });
  const complaints: string[] = [];
  const begin = process.env.SHOTS ?? '';
  for (const shot of (await shots()).filter((one) => one.name.startsWith(begin)))
    for (const theme of ['light', 'dark'] as const)
      complaints.push(
        ...(await take(shot, theme).catch((error) => [String(error)])).map(
          (one) => `${shot.name}: ${one}`,
        ),
      );
  expect(complaints).toEqual([]);
});
