/** Once for all files, and ended after the last of them: the world that they share, and the browser. */
import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { chromiumPath, startWorld } from './harness';

declare module 'vitest' {
  interface ProvidedContext {
    world: { url: string; folder: string; port: number };
    browser: string;
  }
}

export default async function setup(project: TestProject) {
  const [world, browser] = await Promise.all([
    startWorld({ folder: process.env.BURNISH_UI_WORLD }),
    chromium.launchServer({
      executablePath: chromiumPath(),
      args: ['--no-sandbox', '--disable-gpu'],
    }),
  ]);
  project.provide('world', { url: world.url, folder: world.folder, port: world.port });
  project.provide('browser', browser.wsEndpoint());
  return async () => {
    await browser.close();
    await world.stop();
  };
}
