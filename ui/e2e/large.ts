/** The run of 10,000 trials, and what people do on its panels: for the tests and for `make bench-ui`. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { inject } from 'vitest';

export const MANY = '10000';

/** Its id; written into the served database where the world has none. */
export function largeRun(): string {
  const { folder } = inject('world');
  const filled = JSON.parse(readFileSync(join(folder, 'filled.json'), 'utf8'));
  if (filled[MANY]) return filled[MANY] as string;
  const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
  const database = join(folder, '.burnish', 'burnish.db');
  const code = `import sys; from pathlib import Path; from tests.ui.large_run import add_large_run; print(add_large_run(Path(sys.argv[1]), ${MANY}))`;
  const python = process.env.BURNISH_PYTHON ?? join(root, '.venv', 'bin', 'python');
  return execFileSync(python, ['-c', code, database], { cwd: root, encoding: 'utf8' }).trim();
}

const pressed = (where: string, key: string) =>
  `${where}.dispatchEvent(new KeyboardEvent('keydown', { key: ${key}, bubbles: true, cancelable: true }));`;
const found = (selector: string) => `document.querySelector('${selector}')`;
const hovered = (panel: string, x: string, y: string) =>
  `const plot = ${found(`[data-panel=${panel}] [role=application]`)};
   const box = plot.getBoundingClientRect();
   plot.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, clientX: box.left + ${x}, clientY: box.top + ${y} }));`;
const plot = found('[data-panel=score] [role=application]');

/** By tab: what each interaction is called, and its code, which knows how many came before. */
export const INTERACTIONS = {
  Score: {
    'score: hover': hovered('score', '200 + turn * 120', '120 + turn * 20'),
    'score: arrow key': pressed(plot, `turn % 2 ? 'ArrowUp' : 'ArrowRight'`),
    'score: switch the axis': `document.querySelectorAll('[aria-label=Along] button')[(turn + 1) % 2].click();`,
    'score: zoom': pressed(plot, `turn % 2 ? '0' : '+'`),
  },
  Trials: {
    'trials: sort': `${found('[data-sort=score]')}.click();`,
    'trials: sort by text': `${found('[data-sort=rationale]')}.click();`,
    'trials: scroll': `${found('.trials-scroll')}.scrollTop = (turn + 1) * 61000;`,
    'trials: filter': `const select = ${found('select[aria-label=Status]')};
      select.value = turn % 2 ? '' : 'pruned';
      select.dispatchEvent(new Event('change', { bubbles: true }));`,
    'trials: next row': pressed('document', `'j'`),
  },
  Pareto: {
    'Pareto: switch the measure': `document.querySelectorAll('[aria-label=Against] button')[turn % 2 ? 0 : 2].click();`,
    'Pareto: hover': hovered('pareto', '300 + turn * 90', '150'),
  },
  Lineage: {
    'lineage: arrow key': pressed(found('.lineage-flow'), `turn % 2 ? 'ArrowRight' : 'ArrowLeft'`),
    'lineage: open +n': `${found('.lineage-bundle')}.click();`,
  },
} as const;

export type Tab = keyof typeof INTERACTIONS;

const SHOWN: Record<Tab, string> = {
  Score: '[data-panel=score] canvas',
  Trials: '[data-row="0"]',
  Pareto: '[data-panel=pareto] canvas',
  Lineage: '.lineage-flow[data-busy=false] .lineage-node',
};

export async function showTab(page: Page, tab: Tab): Promise<void> {
  await page.getByRole('tab', { name: tab }).click();
  await page.locator(SHOWN[tab]).first().waitFor();
}

/** One interaction, until the frame after it is painted. */
export async function interact(page: Page, code: string, turn: number): Promise<void> {
  await page.evaluate(
    async ([code, turn]) => {
      (new Function('turn', code) as (turn: number) => void)(turn);
      await new Promise((next) => requestAnimationFrame(next));
      // Right after a frame was painted, messages are handled: that is when people see it.
      await new Promise<void>((painted) => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => painted();
        channel.port2.postMessage(null);
      });
    },
    [code, turn] as const,
  );
}
