/** What the server says about image runs, by the names that this screen has for it. */
import type { Schemas } from '@/api/client';

export type ImageRun = Schemas['ImageRunView'];
export type ImageRunLine = Schemas['ImageRunLine'];
export type RunStatus = ImageRun['status'];
export type ObjectivePreset = ImageRun['objective_preset'];
export type Quality = ImageRun['quality'];
export type Variant = ImageRun['variants'][number];
export type Rubric = NonNullable<Variant['rubric']>;
export type Suggestions = NonNullable<ImageRun['suggestions']>;
export type Commit = Schemas['ImageCommitView'];
export type Comparison = Schemas['ImageComparisonView'];
export type ImageModels = Schemas['ImageModelsView'];
export type NewImageRun = Schemas['NewImageRun'];
