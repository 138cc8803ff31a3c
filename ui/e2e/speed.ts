/** How long interactions take with 10,000 trials, on this machine, against the goal: `make bench-ui`. */
import type { Page } from 'playwright-core';
import { it } from 'vitest';
import { close, open } from './harness';
import { interact, INTERACTIONS, largeRun, MANY, showTab, type Tab } from './large';

const GOAL_MS = 100;
const TIMES = 5;

/**
 * How long the page's own thread works for it, until the frame after the event is painted; the
 * middle one of several counts. It does not grow with what else is running, as time on a clock would.
 */
async function took(page: Page, code: string): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const busy = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1000 * (metrics.find((one) => one.name === 'TaskDuration')?.value ?? NaN);
  };
  const all: number[] = [];
  for (let turn = 0; turn < TIMES; turn += 1) {
    const before = await busy();
    await interact(page, code, turn);
    all.push((await busy()) - before);
  }
  await session.detach();
  return all.sort((one, other) => one - other)[Math.floor(TIMES / 2)] ?? Infinity;
}

it('says what each interaction takes', async () => {
  const page = await open(`/runs/${largeRun()}`);
  const lines: string[] = [];
  for (const [tab, acts] of Object.entries(INTERACTIONS)) {
    await showTab(page, tab as Tab);
    for (const [what, code] of Object.entries(acts)) {
      const ms = await took(page, code);
      const over = ms > GOAL_MS ? `  over the goal of ${GOAL_MS} ms` : '';
      lines.push(`  ${what.padEnd(34)} ${ms.toFixed(0).padStart(4)} ms${over}`);
    }
  }
  await close(page);
  console.log(`With ${MANY} trials, work until painted (median of ${TIMES}):\n${lines.join('\n')}`);
});
