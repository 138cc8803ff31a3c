/** Schedules in words, for the patterns that people use; others are shown as they are written. */
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

export const PRESETS: readonly { value: string; label: string }[] = [
  { value: '', label: 'Only when somebody starts it' },
  { value: '0 * * * *', label: 'Every hour' },
  { value: '0 2 * * *', label: 'Every day at 02:00' },
  { value: '0 2 * * 1-5', label: 'Monday to Friday at 02:00' },
  { value: '0 2 * * 0', label: 'Every Sunday at 02:00' },
  { value: '0 2 1 * *', label: 'On the first of each month at 02:00' },
];

export function cronWords(schedule: string | null | undefined, zone = 'UTC'): string {
  if (!schedule) return 'Only when somebody starts it';
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = schedule.trim().split(/\s+/);
  const where = `(${zone})`;
  if (month !== '*' || !/^\d+$/.test(minute)) return `At the times of ${schedule} ${where}`;
  const past = Number(minute) === 0 ? '' : ` at ${minute} minutes past`;
  if (hour === '*' && day === '*' && weekday === '*') return `Every hour${past} ${where}`;
  if (!/^\d+$/.test(hour)) return `At the times of ${schedule} ${where}`;
  const at = `at ${hour.padStart(2, '0')}:${minute.padStart(2, '0')} ${where}`;
  if (day === '*' && weekday === '*') return `Every day ${at}`;
  if (day === '*') {
    const days = dayWords(weekday);
    return days ? `${days} ${at}` : `At the times of ${schedule} ${where}`;
  }
  if (weekday === '*' && /^\d+$/.test(day)) return `On day ${day} of each month ${at}`;
  return `At the times of ${schedule} ${where}`;
}

function dayWords(weekday: string): string | null {
  const named = (text: string) => DAYS[Number(text) % 7];
  const range = /^([0-7])-([0-7])$/.exec(weekday);
  if (range) return `${named(range[1] ?? '')} to ${named(range[2] ?? '')}`;
  if (/^[0-7](,[0-7])*$/.test(weekday)) return `Every ${weekday.split(',').map(named).join(', ')}`;
  return null;
}
