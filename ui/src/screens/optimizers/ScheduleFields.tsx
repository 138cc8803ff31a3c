import { useState } from 'react';
import { Choice } from '@/components/form/Choice';
import { Field } from '@/components/form/Field';
import { cronWords, PRESETS } from './cron';

const OWN = 'own';

/** A schedule out of a few, or one of one's own. */
export function ScheduleFields({
  schedule,
  zone,
  problem,
  onChange,
}: {
  schedule: string;
  zone: string;
  problem: string | null;
  onChange: (schedule: string) => void;
}) {
  const known = PRESETS.some((preset) => preset.value === schedule);
  const [own, setOwn] = useState(!known);
  return (
    <div className="optimizers-grid">
      <Choice
        label="Runs"
        value={own ? OWN : schedule}
        options={[...PRESETS, { value: OWN, label: 'As I write it…' }]}
        onChange={(chosen) => {
          setOwn(chosen === OWN);
          if (chosen !== OWN) onChange(chosen);
        }}
      />
      {own && (
        <Field
          label="Schedule"
          hint={`Minute, hour, day, month, weekday. ${cronWords(schedule, zone)}.`}
          problem={problem}
        >
          {(given) => (
            <input
              {...given}
              className="input mono"
              value={schedule}
              maxLength={100}
              autoComplete="off"
              placeholder="0 2 * * *"
              onChange={(event) => onChange(event.target.value)}
            />
          )}
        </Field>
      )}
    </div>
  );
}
