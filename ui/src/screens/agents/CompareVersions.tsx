import { Card } from '@/components/Card';
import { ConfigurationDiff } from '@/components/configuration/Diff';
import { Choice } from '@/components/form/Choice';
import { Empty, Loaded } from '@/components/States';
import { useAddress } from '@/lib/address';
import { asConfiguration, changesInWords, compareConfigurations } from '@/lib/configurations';
import { useVersion, type VersionLine } from './data';
import { chosenVersions } from './origin';

/** Any two versions, word by word. Which ones stands in the address. */
export function CompareVersions({
  agent,
  lines,
}: {
  agent: string;
  lines: readonly VersionLine[];
}) {
  const address = useAddress();
  const chosen = chosenVersions(lines, address.get('before'), address.get('after'));
  const before = useVersion(agent, chosen?.before ?? null);
  const after = useVersion(agent, chosen?.after ?? null);
  if (!chosen)
    return (
      <Card title="Compare versions">
        <Empty title="There is nothing to compare yet">
          <p>It takes two versions; every promotion makes one.</p>
        </Empty>
      </Card>
    );
  const choose = (change: { before?: number; after?: number }) =>
    address.set({
      before: String(change.before ?? chosen.before),
      after: String(change.after ?? chosen.after),
      view: null,
    });
  return (
    <Card
      title={`Version ${chosen.before} → version ${chosen.after}`}
      actions={
        <button
          type="button"
          className="btn small"
          onClick={() => choose({ before: chosen.after, after: chosen.before })}
        >
          Swap
        </button>
      }
    >
      <div className="stack">
        <div className="agents-pickers">
          <Picker
            label="Before"
            lines={lines}
            chosen={chosen.before}
            onChoose={(version) => choose({ before: version })}
          />
          <Picker
            label="After"
            lines={lines}
            chosen={chosen.after}
            onChoose={(version) => choose({ after: version })}
          />
        </div>
        <Loaded query={before}>
          {(old) => (
            <Loaded query={after}>
              {(now) => {
                const [from, to] = [
                  asConfiguration(old.configuration),
                  asConfiguration(now.configuration),
                ];
                return (
                  <>
                    <p className="muted small">
                      Changes {changesInWords(compareConfigurations(from, to))}.
                    </p>
                    <ConfigurationDiff before={from} after={to} />
                  </>
                );
              }}
            </Loaded>
          )}
        </Loaded>
      </div>
    </Card>
  );
}

function Picker({
  label,
  lines,
  chosen,
  onChoose,
}: {
  label: string;
  lines: readonly VersionLine[];
  chosen: number;
  onChoose: (version: number) => void;
}) {
  return (
    <Choice
      label={label}
      value={String(chosen)}
      options={lines.map((line) => ({ value: String(line.version), label: optionText(line) }))}
      onChange={(version) => onChoose(Number(version))}
    />
  );
}

function optionText(line: VersionLine): string {
  const parts = [`Version ${line.version}`];
  if (line.active) parts.push('active');
  if (line.note !== '') parts.push(line.note.slice(0, 60));
  return parts.join(' · ');
}
