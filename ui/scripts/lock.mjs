// After `npm install` changed the lock file: makes it whole, and the same wherever it is written.
// npm leaves out packages for other systems that its registry does not offer at that moment, and
// `npm ci` then refuses the file. It takes them without a checksum where they are never installed.
import { readFileSync, writeFileSync } from 'node:fs';

const SYSTEMS = /^(android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32|aix)$/;
const PROCESSORS = /^(arm|arm64|ia32|loong64|mips64el|ppc64|riscv64|s390x|x64|wasm32)$/;
const path = 'package-lock.json';
const lock = JSON.parse(readFileSync(path, 'utf8'));

function systemOf(name) {
  const words = name.split(/[-/]/);
  const os = words.filter((word) => SYSTEMS.test(word));
  const cpu = words.filter((word) => PROCESSORS.test(word));
  return { ...(cpu.length > 0 && { cpu }), ...(os.length > 0 && { os }) };
}

for (const [place, entry] of Object.entries(lock.packages)) {
  delete entry.funding;
  delete entry.resolved;
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const missing = `node_modules/${name}`;
    if (place === '' || lock.packages[missing] || lock.packages[`${place}/${missing}`]) continue;
    const own = { version, ...systemOf(name), optional: true, ...(entry.dev && { dev: true }) };
    if (/^\d/.test(version)) lock.packages[missing] = own;
  }
}
const sorted = Object.entries(lock.packages).sort(([one], [other]) => (one < other ? -1 : 1));
lock.packages = Object.fromEntries(sorted);
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
