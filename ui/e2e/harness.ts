/** A real server with a real database, the built pages, and one browser for all tests. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { inject } from 'vitest';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
// Only what hangs takes so long, on a busy machine too.
const START_MS = 900_000;
/** One process for all pages: each process of its own would compile all scripts again. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--in-process-gpu',
  '--process-per-site',
].concat('--renderer-process-limit=1', '--disable-site-isolation-trials');

export interface World {
  url: string;
  folder: string;
  port: number;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export async function freePort(): Promise<number> {
  return await new Promise((found, failed) => {
    const probe = createServer();
    probe.on('error', failed);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      probe.close(() => found(port));
    });
  });
}

const running = new Set<ChildProcess>();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/** `tests/ui/world.py`: fills a folder through the real code, and serves it. */
export async function startWorld(
  options: { folder?: string; port?: number; flags?: readonly string[] } = {},
): Promise<World> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'burnish-ui-'));
  const port = options.port ?? (await freePort());
  const python = process.env.BURNISH_PYTHON ?? join(ROOT, '.venv', 'bin', 'python');
  const child = spawn(
    python,
    ['-m', 'tests.ui.world', folder, '--port', String(port), ...(options.flags ?? [])],
    { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  running.add(child);
  const said: string[] = [];
  child.stdout.on('data', (piece: Buffer) => said.push(String(piece)));
  child.stderr.on('data', (piece: Buffer) => said.push(String(piece)));
  const gone = new Promise<void>((end) => child.once('exit', () => end()));
  const url = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + START_MS;
  for (;;) {
    if (child.exitCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`The world did not start:\n${said.join('').slice(-4000)}`);
    }
    const ready = await fetch(`${url}/health/ready`).catch(() => null);
    if (ready?.ok) break;
    await new Promise((later) => setTimeout(later, 100));
  }
  return {
    url,
    folder,
    port,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      await gone;
      running.delete(child);
    },
  };
}

export function chromiumPath(): string {
  const names = ['chromium-headless-shell', 'chromium', 'chromium-browser'];
  const places = [process.env.CHROMIUM, ...names.map((name) => `/usr/bin/${name}`)];
  const found = places.find((place) => place && existsSync(place));
  if (!found) throw new Error('There is no Chromium: `make test-ui` installs it, or set CHROMIUM.');
  return found;
}

let launched: Promise<Browser> | undefined;

/** The browser that all files share, for they run in one process; it ends with that. */
export function browser(): Promise<Browser> {
  launched ??= chromium.launch({ executablePath: chromiumPath(), args: ARGUMENTS });
  return launched;
}

export interface Opening {
  theme?: 'light' | 'dark';
  phone?: boolean;
  /** Another server than the one that all share: whoever stops or breaks one starts it. */
  on?: { url: string };
  /** In a context of its own: for what would change other pages, as the clock does. */
  alone?: boolean;
}

let shared: Promise<BrowserContext> | undefined;

async function newContext(): Promise<BrowserContext> {
  const made = await (await browser()).newContext({ reducedMotion: 'reduce' });
  made.setDefaultTimeout(300_000);
  return made;
}

const complaints = new WeakMap<Page, string[]>();

/**
 * A page; `close` ends it. All are of one context, which keeps the scripts that it has loaded.
 * What its console and its requests complain about is remembered.
 */
export async function open(path: string, options: Opening = {}): Promise<Page> {
  const { theme = 'light', phone = false, on, alone = false } = options;
  const place = on ?? inject('world');
  const context = await (alone ? newContext() : (shared ??= newContext()));
  const page = await context.newPage();
  await page.setViewportSize(phone ? { width: 390, height: 844 } : { width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: theme });
  const said: string[] = [];
  complaints.set(page, said);
  page.on('console', (line) => line.type() === 'error' && said.push(line.text()));
  page.on('pageerror', (error) => said.push(String(error)));
  page.on('request', (request) => {
    const host = new URL(request.url()).origin;
    if (host !== place.url && /^https?:/.test(host)) said.push(`a request to ${host}`);
  });
  await page.goto(place.url + path);
  return page;
}

/** Ends a page, and forgets what it has stored. */
export async function close(page: Page | undefined): Promise<void> {
  if (!page) return;
  await page.evaluate(() => localStorage.clear());
  const context = page.context();
  await (context === (await shared) ? page : context).close();
}

/** Errors on the console, breaches of the policy, requests to other hosts. */
export function complaintsOf(page: Page): string[] {
  return complaints.get(page) ?? [];
}

interface Finding {
  id: string;
  impact: string | null;
  nodes: { html: string; failureSummary?: string }[];
}

interface Axe {
  run(options: { resultTypes: string[]; preload: boolean }): Promise<{ violations: Finding[] }>;
}

/** What axe finds that is serious or critical, as text. */
export async function accessible(page: Page): Promise<string[]> {
  const axe = join(ROOT, 'ui', 'node_modules', 'axe-core', 'axe.min.js');
  // By evaluation and not by a script element: the server's policy forbids those. Once for a page.
  if (!(await page.evaluate(() => 'axe' in window)))
    await page.evaluate(await readFile(axe, 'utf8'));
  const findings = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: Axe };
    // What is in order is not written out, node by node.
    return (await axe.run({ resultTypes: ['violations'], preload: false })).violations;
  });
  return findings
    .filter((one) => one.impact === 'serious' || one.impact === 'critical')
    .map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 200)).join(' | ')}`);
}

/** Whether the page itself scrolls sideways, which none does on a phone. */
export async function overflows(page: Page): Promise<boolean> {
  return await page.evaluate(
    () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
  );
}
