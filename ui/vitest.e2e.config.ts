import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** In a browser, against a real server. One file after the other: two cores are all there is. */
export default defineConfig({
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  test: {
    include: [process.env.BURNISH_E2E ?? 'e2e/**/*.test.ts'],
    environment: 'node',
    globalSetup: './e2e/setup.ts',
    fileParallelism: false,
    isolate: false,
    // For what should happen soon: far more than a busy machine needs.
    testTimeout: 1_200_000,
    hookTimeout: 1_200_000,
    expect: { poll: { timeout: 300_000, interval: 50 } },
  },
});
