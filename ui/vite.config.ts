import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

const target = process.env.BURNISH_SERVER ?? 'http://127.0.0.1:8720';
// The server takes writes from its own pages only; while developing, these are its own.
const server = { target, changeOrigin: true, headers: { origin: target } };

// The API's own first parts of paths; all else is a screen.
const API = ['v1', 'planar', 'health', 'eval-runs', 'projects', 'commits', 'comparisons', 'images']
  .concat('image-models')
  .map((first) => [`/${first}`, server]);

export default defineConfig({
  plugins: [react()],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    target: 'es2022',
    // Everything is a file of its own: the server's policy allows no inline scripts or fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
  server: { proxy: Object.fromEntries(API) },
  // Pure functions: one process for all of them is enough.
  test: { include: ['tests/**/*.test.ts'], environment: 'node', isolate: false, maxWorkers: 1 },
});
