/** Once for all files, and ended after the last of them: the world that they share. */
import type { TestProject } from 'vitest/node';
import { startWorld } from './harness';

declare module 'vitest' {
  interface ProvidedContext {
    world: { url: string; folder: string; port: number };
  }
}

export default async function setup(project: TestProject) {
  const { url, folder, port, stop } = await startWorld({ folder: process.env.BURNISH_UI_WORLD });
  project.provide('world', { url, folder, port });
  return () => stop();
}
