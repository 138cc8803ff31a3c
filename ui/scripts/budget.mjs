// Compresses the build for the server, and fails when the first load is too heavy.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const LIMIT = 250_000;
const dist = 'dist';
const sizes = new Map();
for (const name of readdirSync(join(dist, 'assets'))) {
  if (!/\.(js|css|svg)$/.test(name)) continue;
  const packed = gzipSync(readFileSync(join(dist, 'assets', name)), { level: 9 });
  writeFileSync(join(dist, 'assets', `${name}.gz`), packed);
  sizes.set(name, packed.length);
}

/** What the page loads before it shows anything: the entry and all that it imports statically. */
function firstLoad() {
  const html = readFileSync(join(dist, 'index.html'), 'utf8');
  const waiting = [...html.matchAll(/assets\/([^"]+\.js)"/g)].map((match) => match[1]);
  const seen = new Set();
  while (waiting.length > 0) {
    const name = waiting.pop();
    if (seen.has(name)) continue;
    seen.add(name);
    const code = readFileSync(join(dist, 'assets', name), 'utf8');
    for (const match of code.matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g))
      waiting.push(match[1]);
  }
  return [...seen];
}

const first = firstLoad().reduce((sum, name) => sum + sizes.get(name), 0);
const all = [...sizes].filter(([name]) => name.endsWith('.js')).reduce((sum, [, n]) => sum + n, 0);
console.log(`JavaScript, gzip: first load ${first} bytes of ${LIMIT}, all screens ${all} bytes`);
if (first > LIMIT) {
  console.error('The first load is too heavy: import what only some screens need lazily.');
  process.exit(1);
}
