/** What the tests of the image screens share: the API asked directly, and a project of their own. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { inject } from 'vitest';

export interface RunAnswer {
  run_id: string;
  status: string;
  degraded: boolean;
  degradations: string[];
  base_prompt: string;
  judge_prompt: string | null;
  n_variants: number;
  parent_commit_id: string | null;
  anchor_commit_id: string | null;
  judge_model: string;
  top_k: string[];
  progress_percent: number;
  leaderboard: { variant_id: string; commit_id: string; composite_score: number }[];
  suggestions: Record<'conservative' | 'balanced' | 'aggressive', string>;
}

export interface CommitAnswer {
  commit_id: string;
  parent_commit_id: string | null;
  run_id: string | null;
  image_url: string | null;
}

export const WAIT = { timeout: 300_000, interval: 50 };

export function filled(): Record<string, string> {
  return JSON.parse(readFileSync(join(inject('world').folder, 'filled.json'), 'utf8'));
}

export async function ask<Body>(path: string, init: RequestInit = {}): Promise<Body> {
  const response = await fetch(inject('world').url + path, init);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Body;
}

export async function postJson<Body>(path: string, body: object): Promise<Body> {
  return await ask<Body>(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** Keeps runs of the planner in a stage, until they are let go. */
export function holdPlanner(stage: 'planning' | 'refining'): () => void {
  const file = join(inject('world').folder, `hold-${stage}`);
  writeFileSync(file, '');
  return () => rmSync(file, { force: true });
}

/** A new project with one picture that somebody sent: the bytes of one that the world has. */
export async function projectWithPicture(name: string, prompt: string): Promise<CommitAnswer> {
  const { image_anchor: anchor } = filled();
  const { image_url: url } = await ask<CommitAnswer>(`/commits/${anchor}`);
  const bytes = await (await fetch(inject('world').url + url)).arrayBuffer();
  // A project is made by its first run: this one ends before it costs anything.
  const letGo = holdPlanner('planning');
  const first = await postJson<RunAnswer>('/eval-runs', {
    project_id: name,
    base_prompt: 'nothing yet',
    objective_preset: 'adherence',
    n_variants: 2,
    text_model: 'openai/planner',
  });
  await ask(`/eval-runs/${first.run_id}/cancel`, { method: 'POST' });
  letGo();
  return await ask<CommitAnswer>(
    `/projects/${name}/commits?${new URLSearchParams({ prompt }).toString()}`,
    { method: 'POST', headers: { 'Content-Type': 'image/png' }, body: bytes },
  );
}

export async function runShown(page: Page): Promise<RunAnswer> {
  const id = new URL(page.url()).searchParams.get('run') ?? '';
  return await ask<RunAnswer>(`/eval-runs/${id}`);
}

/** Waits until the run that the page shows is another than before. */
export async function nextRun(page: Page, before: string | null): Promise<string> {
  await page.waitForURL((url) => {
    const run = url.searchParams.get('run');
    return run !== null && run !== before;
  });
  return new URL(page.url()).searchParams.get('run') ?? '';
}

/** Notes every stage and percentage that the page shows, from now on. */
export async function watchStages(page: Page): Promise<void> {
  await page.evaluate(() => {
    const seen: [string, number][] = [];
    const note = () => {
      const shown = document.querySelector<HTMLElement>('[data-stage]')?.dataset;
      if (!shown?.stage) return;
      const entry: [string, number] = [shown.stage, Number(shown.percent)];
      if (String(seen.at(-1)) !== String(entry)) seen.push(entry);
    };
    new MutationObserver(note).observe(document.body, {
      subtree: true,
      childList: true,
      attributes: true,
      attributeFilter: ['data-stage', 'data-percent'],
    });
    Object.assign(window, { seenStages: seen });
  });
}

export async function seenStages(page: Page): Promise<[string, number][]> {
  return await page.evaluate(
    () => (window as unknown as { seenStages: [string, number][] }).seenStages,
  );
}

/** Types the name of a model that the list does not offer. */
export async function chooseModel(page: Page, label: string, name: string): Promise<void> {
  const models = page.locator('details.workbench-models');
  if ((await models.getAttribute('open')) === null) await models.locator('summary').click();
  await page.getByLabel(label, { exact: true }).selectOption({ label: 'Another…' });
  await page.getByLabel(`Name of the ${label.toLowerCase()}`).fill(name);
}
