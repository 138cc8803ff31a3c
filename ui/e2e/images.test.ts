/** Image runs in the workbench: the checklist of their contract, point by point, and what is around it. */
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { accessible, close, complaintsOf, open, overflows } from './harness';
import {
  ask,
  chooseModel,
  filled,
  holdPlanner,
  nextRun,
  projectWithPicture,
  runShown,
  seenStages,
  WAIT,
  watchStages,
  type CommitAnswer,
  type RunAnswer,
} from './images';

const PROMPT = 'a red boat on a calm sea under a yellow sun';
const HOSTILE = 'a boat <img src="x" onerror="window.pwned = 1"><script>window.pwned = 1</script>';

/** Whether all of it is in the window, and nothing lies over its middle. */
const inSight = (one: Locator) =>
  one.evaluate((element) => {
    const { top, bottom, left, width } = element.getBoundingClientRect();
    const over = document.elementFromPoint(left + width / 2, (top + bottom) / 2);
    return top >= 0 && bottom <= window.innerHeight && element.contains(over);
  });
const promptOf = (page: Page) => page.getByLabel('Prompt', { exact: true });
const status = (page: Page) => page.locator('[data-stage]').getAttribute('data-stage');
const ended = (page: Page, wanted: string) => expect.poll(() => status(page), WAIT).toBe(wanted);

describe('the eval workbench', () => {
  const project = `tried-${Date.now()}`;
  let page: Page;
  let root: CommitAnswer;
  let first: RunAnswer;
  let second: RunAnswer;

  beforeAll(async () => {
    root = await projectWithPicture(project, HOSTILE);
    page = await open(`/workbench/${project}`);
  });
  afterAll(async () => {
    await close(page);
  });

  test('1. opens from a selected commit, and from a node of the graph', async () => {
    const node = page.locator(`[data-commit="${root.commit_id}"]`);
    await node.click();
    const panel = page.getByRole('complementary', { name: 'Commit: upload' });
    await panel.getByText(HOSTILE).waitFor();
    await panel.getByRole('link', { name: 'Run eval' }).click();
    await page.locator(`[data-anchor="${root.commit_id}"]`).waitFor();
    await expect.poll(() => promptOf(page).inputValue(), WAIT).toBe(HOSTILE);
    expect(await page.evaluate(() => 'pwned' in window)).toBe(false);

    await page.goBack();
    await node.getByRole('button', { name: 'Run eval from upload' }).click();
    await page.waitForURL(new RegExp(`/workbench/${project}/eval\\?parent=${root.commit_id}$`));
  });

  test('2. runs with two variants, sent by Ctrl+Enter out of the prompt', async () => {
    const send = page.getByRole('button', { name: /^Run eval/ });
    await promptOf(page).fill('four');
    await page.getByText('A prompt has at least 5 characters.').waitFor();
    expect(await send.isDisabled()).toBe(true);
    await page.getByRole('group', { name: 'Variants' }).getByText('2', { exact: true }).click();
    await page.getByText('Aesthetic', { exact: true }).click();
    await page.getByLabel('Must avoid').fill('text,');
    // It can be held, so that the stages can be watched.
    await chooseModel(page, 'Text model', 'openai/planner');
    await promptOf(page).fill(PROMPT);
    expect(await page.locator('[data-counter]').getAttribute('data-counter')).toBe(
      String(PROMPT.length),
    );
    await watchStages(page);
    const plan = holdPlanner('planning');
    const refine = holdPlanner('refining');

    await promptOf(page).press('Control+Enter');

    await nextRun(page, null);
    await ended(page, 'planning');
    plan();
    await ended(page, 'refining');
    refine();
    await ended(page, 'completed');
    first = await runShown(page);
    expect(first).toMatchObject({
      base_prompt: PROMPT,
      n_variants: 2,
      objective_preset: 'aesthetic',
      parent_commit_id: root.commit_id,
      anchor_commit_id: root.commit_id,
      constraints: { must_include: [], must_avoid: ['text'] },
      text_model: 'openai/planner',
    });
    await page.getByText('The run is complete.').waitFor();
  });

  test('3. goes through the stages in their order, with the progress of each', async () => {
    const seen = await seenStages(page);
    const stages = seen.map(([stage]) => stage).filter((one, at, all) => one !== all[at - 1]);
    const order = ['queued', 'planning', 'generating', 'evaluating', 'refining', 'completed'];
    expect(stages).toEqual(order.filter((one) => stages.includes(one)));
    // Nobody holds the stages between: on a busy machine they may pass between two paints.
    for (const held of ['queued', 'planning', 'refining', 'completed'])
      expect(stages).toContain(held);
    const percents = seen.map(([, percent]) => percent);
    expect(percents).toEqual([...percents].sort((one, other) => one - other));
    const at = (stage: string) => seen.filter(([one]) => one === stage).map(([, n]) => n);
    expect([at('queued'), at('planning'), at('refining'), at('completed')]).toEqual([
      [0],
      [10],
      [92],
      [100],
    ]);
    for (const n of at('generating')) expect([15, 32.5, 50]).toContain(n);
    for (const n of at('evaluating')) expect([50, 67.5, 85]).toContain(n);
  });

  test('4. fills the leaderboard and top_k', async () => {
    const cards = page.locator('[data-rank]');
    expect(await cards.count()).toBe(2);
    expect(first.top_k).toHaveLength(2);
    expect(await page.locator('[data-top]').getAttribute('data-top')).toBe(first.top_k.join(' '));
    for (const [index, variant] of first.leaderboard.entries()) {
      const card = page.locator(`[data-variant="${variant.variant_id}"]`);
      expect(await card.getAttribute('data-rank')).toBe(String(index + 1));
      expect(await card.innerText()).toContain(variant.composite_score.toFixed(4));
      expect(await card.locator('[data-rubric]').count()).toBe(5);
      const image = card.locator('img');
      await expect
        .poll(() => image.evaluate((one: HTMLImageElement) => one.naturalWidth), WAIT)
        .toBeGreaterThan(0);
      expect(await image.getAttribute('src')).toMatch(/^blob:/);
    }
    // IMG-36: what the variants are edits of stands beside them.
    const anchor = page.locator('[data-part="anchor"] img');
    await expect
      .poll(() => anchor.evaluate((one: HTMLImageElement) => one.naturalWidth), WAIT)
      .toBeGreaterThan(0);
    // Arrows move over the cards, and not while somebody types.
    const focused = () =>
      page.evaluate(() => document.activeElement?.getAttribute('data-variant') ?? null);
    await page.locator('h1').click();
    await page.keyboard.press('ArrowRight');
    expect(await focused()).toBe(first.top_k[0]);
    await page.keyboard.press('ArrowRight');
    expect(await focused()).toBe(first.top_k[1]);
    await page.keyboard.press('ArrowLeft');
    expect(await focused()).toBe(first.top_k[0]);
    await promptOf(page).focus();
    await page.keyboard.press('ArrowRight');
    expect(await focused()).toBeNull();
    expect(await accessible(page)).toEqual([]);
  });

  test('5. returns three suggestions that can be used, by keys too', async () => {
    const { suggestions } = first;
    await promptOf(page).press('2');
    expect(await promptOf(page).inputValue()).toMatch(/2/);
    await page.locator('h1').click();
    for (const [key, name] of [
      ['1', 'conservative'],
      ['2', 'balanced'],
      ['3', 'aggressive'],
    ] as const) {
      await page.keyboard.press(key);
      expect(await promptOf(page).inputValue()).toBe(suggestions[name]);
    }
    await page
      .locator('[data-suggestion="conservative"]')
      .getByRole('button', { name: 'Use as prompt' })
      .click();
    expect(await promptOf(page).inputValue()).toBe(suggestions.conservative);
    // IMG-40.
    await page.locator('.toasts', { hasText: 'Taken as the prompt.' }).waitFor();
    await page.locator('h1').click();
    await page.keyboard.press('?');
    const help = await page.getByRole('dialog', { name: 'Keyboard' }).innerText();
    for (const words of [
      'Run eval',
      'Balanced suggestion as prompt',
      'Next card of the leaderboard',
    ])
      expect(help).toContain(words);
    await page.keyboard.press('Escape');
  });

  test('6. branches from the winner when a suggestion is run now', async () => {
    await page
      .locator('[data-suggestion="balanced"]')
      .getByRole('button', { name: 'Run now' })
      .click();
    await nextRun(page, first.run_id);
    await ended(page, 'completed');
    second = await runShown(page);
    expect(second.base_prompt).toBe(first.suggestions.balanced);
    expect(second.parent_commit_id).toBe(first.leaderboard[0]?.commit_id);
    expect(second.anchor_commit_id).toBe(second.parent_commit_id);
    expect(await promptOf(page).inputValue()).toBe(first.suggestions.balanced);
  });

  test('7. shows the new variants in the history as children of their anchor', async () => {
    await page.getByRole('link', { name: project }).click();
    for (const run of [first, second])
      for (const { commit_id: commit } of run.leaderboard) {
        const node = page.locator(`[data-commit="${commit}"]`);
        await node.waitFor();
        expect(await node.getAttribute('data-parent')).toBe(run.anchor_commit_id);
      }
    const { nodes } = await ask<{ nodes: CommitAnswer[] }>(`/projects/${project}/lineage`);
    await expect
      .poll(() => page.locator('[data-nodes]').getAttribute('data-nodes'), WAIT)
      .toBe(String(nodes.length));
    const edges = nodes.filter((one) => one.parent_commit_id !== null).length;
    await expect.poll(() => page.locator('.react-flow__edge').count(), WAIT).toBe(edges);
    expect(await accessible(page)).toEqual([]);
  });

  test('8. completes degraded when the judge is down, and says so', async () => {
    await page.goto(`${inject('world').url}/workbench/${project}/eval?parent=${root.commit_id}`);
    await promptOf(page).fill(PROMPT);
    await chooseModel(page, 'Judge', 'openai/gone');
    await promptOf(page).press('Meta+Enter');
    await nextRun(page, null);
    await ended(page, 'completed_degraded');
    await page.locator('[data-chip="degraded"]').waitFor();
    await page.locator('.toasts .notice.info', { hasText: 'fallbacks' }).waitFor();
    const run = await runShown(page);
    expect(run).toMatchObject({ degraded: true, status: 'completed_degraded' });
    expect(await page.locator('[data-part="degradations"] li').allInnerTexts()).toEqual(
      run.degradations,
    );
    expect(await page.locator('[data-rank]').count()).toBe(run.leaderboard.length);
    expect(run.leaderboard.length).toBe(3);
    expect(Object.values(run.suggestions)).toHaveLength(3);
    // IMG-35: it was clipped in three columns.
    const neutral = page.getByText('neutral rubric: the judge failed');
    await neutral.first().waitFor();
    for (const badge of await neutral.all())
      expect(await badge.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
    expect(complaintsOf(page)).toEqual([]);
  });

  test('is sent to the project of its run', async () => {
    // IMG-37.
    const other = await open(`/workbench/${filled().image_project}/eval?run=${second.run_id}`);
    await other.waitForURL((url) => url.pathname === `/workbench/${project}/eval`);
    await other.locator('[data-stage="completed"]').waitFor();
    expect(await other.locator('[data-part="makers"]').innerText()).toMatch(
      /^Drawn by sketch \(.+\), judged by pixel-judge \(.+\)/,
    );
    expect(second.judge_prompt).toBe(PROMPT);
    await close(other);
  });

  test('runs on by asking where no events get through, and is left after ninety looks', async () => {
    const other = await open(`/workbench/${project}/eval`, { alone: true });
    await other.route('**/events', (route) => route.abort());
    await other.goto(`${inject('world').url}/workbench/${project}/eval?run=${second.run_id}`);
    await other.locator('[data-stage="completed"]').waitFor();
    await other.clock.install();
    // As one that never ends: the answers are those of the run, halfway.
    const half = { ...second, status: 'generating', stage: 'generating' };
    let looks = 0;
    await other.route(`**/eval-runs/${second.run_id}`, (route) => {
      looks += 1;
      return route.fulfill({ json: half });
    });
    await other.goto(`${inject('world').url}/workbench/${project}/eval?run=${second.run_id}`);
    await other.locator('[data-stage="generating"]').waitFor();
    looks = 0;
    await other.clock.runFor(1_000);
    await other.clock.runFor(2_000);
    await other.locator('[data-live="polling"]').waitFor();
    const left = other.getByRole('button', { name: 'Look again' });
    // However long an answer takes to reach the page, its clock goes on only while it is awaited.
    const later = async () => await other.clock.runFor(1_200);
    while (looks < 90) await later();
    await left.waitFor();
    const words = 'The run goes on in the background';
    await other.locator('.toasts .notice.info', { hasText: words }).waitFor();
    // How many there are in one row is a unit test's: one of the page's opening may still be on its way.
    const looked = looks;
    await other.clock.runFor(5_000);
    expect(looks).toBe(looked);

    await other.unroute(`**/eval-runs/${second.run_id}`);
    await left.click();
    await left.waitFor({ state: 'detached' });
    while ((await status(other)) !== 'completed') await later();
    await close(other);
  });

  test('says that the server is away, tries again when told, and is cancelled', async () => {
    await page.goto(`${inject('world').url}/workbench/${project}/eval`);
    await promptOf(page).fill(PROMPT);
    await chooseModel(page, 'Text model', 'openai/planner');
    await page.route('**/eval-runs', (route) => route.abort('connectionrefused'));
    await page.getByRole('button', { name: /^Run eval/ }).click();
    const problem = page.getByRole('alert').filter({ hasText: 'API_UNAVAILABLE' });
    await problem.waitFor();
    // IMG-1: on a laptop it lay below the window.
    for (const size of [
      { width: 1366, height: 768 },
      { width: 390, height: 844 },
    ]) {
      await page.setViewportSize(size);
      await page.getByRole('button', { name: /^Run eval/ }).click();
      await expect.poll(() => inSight(problem), WAIT).toBe(true);
    }
    await page.unroute('**/eval-runs');
    const letGo = holdPlanner('planning');

    await problem.getByRole('button', { name: 'Retry' }).click();

    await nextRun(page, null);
    // IMG-28: on a phone nothing seemed to happen.
    await expect.poll(() => inSight(page.locator('[data-stage]')), WAIT).toBe(true);
    await page.setViewportSize({ width: 1366, height: 768 });
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await ended(page, 'cancelled');
    letGo();
    expect((await runShown(page)).status).toBe('cancelled');
    await page.getByRole('button', { name: 'Re-run same settings' }).waitFor();
  });
});

describe('pictures', () => {
  const at = (rest = '') => `/workbench/${filled().image_project}${rest}`;

  test('are enlarged, drawn over each other and compared, all by keys', async () => {
    const { image_anchor: left, image_best: right, image_run: run } = filled();
    const page = await open(at(`/eval?run=${run}`));
    const card = page.locator('[data-rank="1"]');
    await card.getByRole('button', { name: /^Enlarge/ }).press('Enter');
    const zoom = page.getByRole('dialog');
    await zoom.locator('[data-zoom="1"] img').waitFor();
    await page.keyboard.press('+');
    await page.keyboard.press('+');
    await zoom.locator('[data-zoom="2"]').waitFor();
    expect(await accessible(page)).toEqual([]);
    await page.keyboard.press('Escape');

    await card.getByRole('button', { name: 'Before / after' }).press('Enter');
    const line = page.getByRole('slider', { name: 'Line between before and after' });
    await line.waitFor();
    await page.keyboard.press('ArrowRight');
    expect(await line.getAttribute('aria-valuetext')).toBe('51% before, 49% after');
    expect(await accessible(page)).toEqual([]);
    await page.keyboard.press('Escape');

    await page.goto(inject('world').url + at(`?commit=${left}`));
    await page.getByRole('button', { name: 'Compare with…' }).click();
    await page.locator(`[data-commit="${right}"]`).click();
    await page.waitForURL(/compare\?left=.+&right=/);
    await page.locator('[data-rubric="composite_score"]').waitFor();
    expect(await page.locator('[data-rubric]').count()).toBe(6);
    await expect.poll(() => page.locator('img[src^="blob:"]').count(), WAIT).toBe(5);
    expect(await page.getByText('Pixels that differ').locator('..').innerText()).toMatch(
      /[1-9][\d.]*%/,
    );
    expect(await accessible(page)).toEqual([]);
    expect(complaintsOf(page)).toEqual([]);
    await close(page);
  });

  test('are deleted after a question, and what was made from them stays', async () => {
    const project = `tried-${Date.now()}-too`;
    const { commit_id: id } = await projectWithPicture(project, 'a picture to delete');
    const page = await open(`/workbench/${project}?commit=${id}`);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    // IMG-27: what is said is what happens.
    await page.getByText('the file of its picture stays on the server’s disk').waitFor();
    await page.getByRole('button', { name: 'Delete the commit' }).click();
    await page.getByText('No pictures yet').waitFor();
    expect((await fetch(`${inject('world').url}/commits/${id}`)).status).toBe(404);
    await close(page);
  });

  test('are sent from this machine, and one that is none is refused in words', async () => {
    const page = await open(at());
    await page.getByRole('button', { name: 'Upload a picture' }).click();
    const dialog = page.getByRole('dialog', { name: 'Upload a picture' });
    const choose = (name: string, buffer: Buffer) =>
      dialog.getByLabel('Picture').setInputFiles({ name, mimeType: 'image/png', buffer });
    await choose('no.png', Buffer.from('this is no picture'));
    await dialog.getByRole('button', { name: 'Upload', exact: true }).click();
    await dialog.getByRole('alert').waitFor();
    // IMG-30: the limit is named, and what is over it is told as a picture's size.
    await dialog.getByText('25 megapixels and 20 MB').waitFor();
    await dialog.getByLabel('Picture').evaluate((one: HTMLInputElement) => {
      const chosen = new DataTransfer();
      chosen.items.add(new File([new Uint8Array(20_100_000)], 'large.png', { type: 'image/png' }));
      one.files = chosen.files;
      one.dispatchEvent(new Event('change', { bubbles: true }));
    });
    await dialog.getByText('This picture has 20.1 MB').waitFor();
    const send = dialog.getByRole('button', { name: 'Upload', exact: true });
    expect(await send.isDisabled()).toBe(true);
    const { image_url: url } = await ask<CommitAnswer>(`/commits/${filled().image_anchor}`);
    const bytes = await (await fetch(inject('world').url + url)).arrayBuffer();
    await choose('yes.png', Buffer.from(bytes));
    await dialog.getByLabel('What it shows').fill('A lighthouse of my own');
    await dialog.getByRole('button', { name: 'Upload', exact: true }).click();
    const panel = page.getByRole('complementary', { name: 'Commit: upload' });
    await panel.getByText('A lighthouse of my own').waitFor();
    const id = new URL(page.url()).searchParams.get('commit') ?? '';
    await ask(`/commits/${id}`, { method: 'DELETE' });
    await close(page);
  });

  test('open at the newest of five hundred, large enough to read', async () => {
    // IMG-29: all of them were drawn at once, as specks.
    const given = await ask<CommitAnswer>(`/commits/${filled().image_anchor}`);
    const nodes = Array.from({ length: 500 }, (_, n) => 500 - n).map((k) => ({
      ...given,
      commit_id: `commit-${k}`,
      parent_commit_id: k === 1 ? null : `commit-${Math.max(1, k - 1 - (k % 12))}`,
    }));
    const page = await open('/workbench');
    await page.route('**/lineage*', (route) =>
      route.fulfill({ json: { project_id: 'p', nodes, truncated: false } }),
    );
    await page.goto(inject('world').url + at());
    const newest = page.locator('[data-commit="commit-500"]');
    await newest.waitFor();
    await expect.poll(() => inSight(newest), WAIT).toBe(true);
    expect((await newest.boundingBox())?.width).toBeGreaterThan(80);
    // Only what is in sight is drawn.
    expect(await page.locator('[data-commit]').count()).toBeLessThan(200);
    await close(page);
  });

  test('fit a phone and the night, with nothing serious for axe', async () => {
    const { image_run: run, image_anchor: left, image_best: right } = filled();
    const screens = [
      ['/workbench', '.project img'],
      [at(`?commit=${right}`), '.commit-large img'],
      [at('?tab=runs'), '[data-run]'],
      [at(`/eval?run=${run}`), '[data-rank] img'],
      [at(`/compare?left=${left}&right=${right}`), '[data-rubric]'],
    ] as const;
    const page = await open('/workbench', { phone: true, theme: 'dark' });
    for (const [path, shows] of screens) {
      await page.goto(inject('world').url + path);
      await page.locator(shows).first().waitFor();
      expect([path, await overflows(page), await accessible(page)]).toEqual([path, false, []]);
    }
    expect(complaintsOf(page)).toEqual([]);
    await close(page);
  });
});
