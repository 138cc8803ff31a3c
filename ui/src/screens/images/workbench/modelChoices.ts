import type { ImageModels } from '../types';

export type ModelKind = 'image' | 'judge' | 'text';

/** The choice that lets one type a name. */
export const OTHER = '\u0000other';

/** What a select shows: the server's own choice is the value until another is chosen. */
export function optionsFor(kind: ModelKind, models: ImageModels | undefined, chosen: string) {
  const all = models?.[`${kind}_models`] ?? [];
  // A request that names no model has the usual one: without a name there is no other choice.
  const own = all.filter((model) => model.name !== null || model.default);
  const shown = own.map((model) => ({
    // Templates are no model, and have no name.
    value: model.name ?? '',
    label: model.why_not ? `${model.label} · ${model.why_not}` : model.label,
    disabled: !model.usable,
  }));
  const value = chosen === '' ? (own.find((model) => model.default)?.name ?? '') : chosen;
  // One that a run before had, or that somebody typed.
  if (models && !shown.some((option) => option.value === value))
    shown.push({ value, label: value, disabled: false });
  return { shown, value };
}

/** The chosen one in a word. */
export function nameOf(kind: ModelKind, models: ImageModels | undefined, chosen: string): string {
  const { value } = optionsFor(kind, models, chosen);
  if (value === '') return models ? 'templates' : '…';
  return value.replace(/^openai\//, '');
}
