import { Card } from '@/components/Card';
import { Diff } from '@/components/Diff';
import { Loaded } from '@/components/States';
import { Time } from '@/components/Time';
import { useVersions } from './data';
import { configText } from './form';

/** Every version, with what changed against the one before. */
export function Versions({ agent, name }: { agent: string; name: string }) {
  const versions = useVersions(agent, name);
  return (
    <Loaded query={versions}>
      {({ items }) => {
        const sorted = [...items].sort((one, other) => other.version - one.version);
        return (
          <div className="stack">
            {sorted.map((one, index) => {
              const before = sorted[index + 1];
              return (
                <Card
                  key={one.version}
                  title={`Version ${one.version}`}
                  actions={
                    <span className="muted small row">
                      {one.active && <span className="badge good">active</span>}
                      {one.author}, <Time at={one.created_at} />
                    </span>
                  }
                >
                  <Diff
                    before={configText(before?.config ?? one.config)}
                    after={configText(one.config)}
                  />
                </Card>
              );
            })}
          </div>
        );
      }}
    </Loaded>
  );
}
