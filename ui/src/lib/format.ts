/** Numbers as people read them: with units, with a sign where it is a change, money to the cent. */
const NONE = '–';
const MINUS = '−';

const formats = new Map<number, Intl.NumberFormat>();

/** Making a format takes far longer than using it: tables write hundreds of numbers at a time. */
function formatOf(digits: number): Intl.NumberFormat {
  const known = formats.get(digits);
  if (known) return known;
  const made = new Intl.NumberFormat('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  formats.set(digits, made);
  return made;
}

function plain(value: number, digits: number): string {
  const text = formatOf(digits).format(Math.abs(value));
  return value < 0 && Number(text.replace(/,/g, '')) !== 0 ? MINUS + text : text;
}

export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? NONE : plain(value, 0);
}

/** “1 item”, “2 items”: a noun that agrees with its number. */
export function counted(
  value: number | null | undefined,
  noun: string,
  plural = `${noun}s`,
): string {
  return `${count(value)} ${value === 1 ? noun : plural}`;
}

export function score(value: number | null | undefined): string {
  return value === null || value === undefined ? NONE : plain(value, 3);
}

export function percent(value: number | null | undefined, digits = 0): string {
  return value === null || value === undefined ? NONE : `${plain(value * 100, digits)}%`;
}

/** A change, always with its sign. */
export function change(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined) return NONE;
  const text = plain(value, digits);
  return value > 0 && Number(text.replace(/,/g, '')) !== 0 ? `+${text}` : text;
}

export function interval(
  low: number | null | undefined,
  high: number | null | undefined,
  digits = 3,
): string {
  if (low === null || low === undefined || high === null || high === undefined) return '';
  return `${plain(low, digits)} to ${plain(high, digits)}`;
}

/** Money to the cent; what is less than a cent says so. */
export function money(value: number | null | undefined): string {
  if (value === null || value === undefined) return NONE;
  if (value > 0 && value < 0.01) return '< $0.01';
  return `$${plain(value, 2)}`;
}

/** The exact sum, for a hover. */
export function exactMoney(value: number | null | undefined): string {
  return value === null || value === undefined ? 'unknown' : `$${value.toPrecision(6)}`;
}

export function tokens(value: number | null | undefined): string {
  if (value === null || value === undefined) return NONE;
  return `${plain(value, value < 10 && !Number.isInteger(value) ? 1 : 0)} tokens`;
}

interface TokenCounts {
  input_tokens: number;
  output_tokens: number;
  cached_tokens?: number;
  cached_share?: number | null;
}

/** Of what a model read, the share that its provider had in its prompt cache; null of nothing. */
export function cachedShare(usage: TokenCounts): number | null {
  if (usage.cached_share !== undefined) return usage.cached_share;
  if (usage.input_tokens === 0) return null;
  return Math.min(1, (usage.cached_tokens ?? 0) / usage.input_tokens);
}

/** “1,200 tokens in (64% cached), 80 out”. */
export function tokensInAndOut(usage: TokenCounts): string {
  const share = cachedShare(usage);
  const cached = share ? ` (${percent(share)} cached)` : '';
  return `${count(usage.input_tokens)} tokens in${cached}, ${count(usage.output_tokens)} out`;
}

export function milliseconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return NONE;
  if (value < 1) return '< 1 ms';
  if (value < 1000) return `${plain(value, 0)} ms`;
  return `${plain(value / 1000, value < 10_000 ? 2 : 1)} s`;
}

export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return NONE;
  if (seconds < 1) return milliseconds(seconds * 1000);
  if (seconds < 60) return `${plain(seconds, seconds < 10 ? 1 : 0)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

export function relativeTime(when: Date, now: Date): string {
  const seconds = (when.getTime() - now.getTime()) / 1000;
  for (const [unit, size] of UNITS)
    if (Math.abs(seconds) >= size) return RELATIVE.format(Math.round(seconds / size), unit);
  return Math.abs(seconds) < 10 ? 'just now' : RELATIVE.format(Math.round(seconds), 'second');
}

export function exactTime(when: Date): string {
  return when.toLocaleString('en-GB', {
    dateStyle: 'medium',
    timeStyle: 'medium',
  });
}

export function shortId(id: string): string {
  return id.length > 12 ? id.slice(-8) : id;
}
