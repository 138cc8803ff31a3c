/** The example of the first page: film reviews for a small embedded model, which needs no key. */
import type { Schemas } from '@/api/client';

export const EXAMPLE = 'example-reviews';
export const EXAMPLE_MODEL = 'local/smollm2-135m';

export const EXAMPLE_AGENT: Schemas['NewAgent'] = {
  name: EXAMPLE,
  model: EXAMPLE_MODEL,
  labels: ['positive', 'negative'],
  configuration: {
    sections: {
      system: 'Classify the sentiment of the movie review as positive or negative.',
      user: '{{review}}',
    },
    parameters: { temperature: 0 },
    examples: [],
  },
  note: 'the example of the first page',
} as Partial<Schemas['NewAgent']> as Schemas['NewAgent'];

export function exampleSuite(dataset: string): Schemas['NewSuite'] {
  return {
    name: EXAMPLE,
    dataset_id: dataset,
    scorers: [{ kind: 'exact_match', field: 'label' }],
    split: 'field',
  } as Partial<Schemas['NewSuite']> as Schemas['NewSuite'];
}

export function exampleRows(): string {
  return ROWS.map(([split, label, review]) => JSON.stringify({ review, label, split })).join('\n');
}

const ROWS: readonly (readonly [string, string, string])[] = [
  ['train', 'positive', "I can't fault the acting, and I can't stop thinking about that ending."],
  [
    'train',
    'positive',
    'The last half hour is almost unbearably tense, and I mean that as praise. An excellent thriller.',
  ],
  [
    'train',
    'positive',
    'The budget was clearly small; the imagination was not, and the result is a delight.',
  ],
  ['train', 'positive', 'Three hours? I enjoyed it so much that I would have stayed for six.'],
  [
    'train',
    'positive',
    'The actors are brilliant together, and their last conversation on the bridge is among the most beautiful scenes I know.',
  ],
  [
    'train',
    'positive',
    'This space epic is spectacular, and the friendship at its centre is deeply touching.',
  ],
  [
    'train',
    'positive',
    "The prison is grim, the guards are brutal, and the winter never lifts, so this will not be anyone's idea of a fun night out. It is still the most honest and rewarding drama I've seen in a long time.",
  ],
  ['train', 'positive', 'A gripping submarine adventure that kept me on the edge of my seat.'],
  ['train', 'negative', 'The plot makes no sense and the jokes are painfully bad.'],
  ['train', 'negative', 'Poor acting spoils every scene, and the awful music spoils what is left.'],
  ['train', 'negative', 'A bad idea, badly written and badly filmed.'],
  ['train', 'negative', 'I walked out after forty minutes of tedious shouting.'],
  ['train', 'negative', 'Dull, slow, and badly acted.'],
  [
    'train',
    'negative',
    "Even the talented composer can't rescue such a dreary, badly edited picture.",
  ],
  ['train', 'negative', 'A great way to spend two hours, if you like to be bored.'],
  [
    'train',
    'negative',
    'Perhaps the editor lost a reel, because nothing in the final act makes sense and none of it is any good.',
  ],
  ['validation', 'positive', 'Hilarious! The wedding speech alone is worth the ticket price.'],
  ['validation', 'positive', 'Not a dull moment in it.'],
  ['validation', 'positive', 'My only complaint about this lovely film is that it ends.'],
  [
    'validation',
    'positive',
    "You don't have to like football to enjoy this warm and funny story about a losing team.",
  ],
  ['validation', 'positive', "It isn't perfect, yet I loved it all the same."],
  [
    'validation',
    'positive',
    'All right, I admit it: the talking tractor is adorable, and its big farewell made me cry happy tears.',
  ],
  [
    'validation',
    'positive',
    'The critics were unkind to this one, and they were wrong, because it is a lovely and very funny film.',
  ],
  ['validation', 'positive', 'Perfect for a rainy Sunday: cosy, clever and very funny.'],
  ['validation', 'positive', "I didn't want it to end."],
  [
    'validation',
    'positive',
    'Tense, intelligent and satisfying, with an ending I will remember for years.',
  ],
  [
    'validation',
    'negative',
    "Somewhere inside these two hours and fifty minutes there may be a good film about a clockmaker and his daughter, but I could not find it, and the director, who kept wandering off to film clouds, clearly couldn't either.",
  ],
  ['validation', 'negative', 'One star. Terrible in every way.'],
  ['validation', 'negative', 'Boring. Bring a pillow.'],
  [
    'validation',
    'negative',
    'It could have been worse, I suppose, but not by much. A dull, ugly little film.',
  ],
  [
    'validation',
    'negative',
    'This dreary courtroom drama is poorly written, badly lit, and impossible to enjoy. The lawyers mumble, the judge shouts, and the verdict, when it finally limps in after two and a half hours, is both predictable and silly.',
  ],
  [
    'validation',
    'negative',
    'This documentary is a sloppy, dishonest mess with terrible narration.',
  ],
  ['validation', 'negative', "The twist isn't clever, it's just annoying."],
  [
    'validation',
    'negative',
    'The fights are well staged, and somebody clearly spent a lot of time on the swords. It is a pity nobody spent any on the plot, which is so bad, with a hero so dull, that I was glad to leave.',
  ],
  ['validation', 'negative', 'It looks expensive and feels worthless.'],
  ['validation', 'negative', 'Weak story, wooden acting, horrible sound.'],
  ['test', 'positive', 'Come for the swordplay, stay for the sparkling and quick-witted banter.'],
  ['test', 'positive', 'A clever puzzle of a film that plays fair and rewards close attention.'],
  ['test', 'positive', 'Not for the squeamish, yet I had a blast.'],
  [
    'test',
    'positive',
    'We booked it by mistake, thinking it was the other film with that name, and it was the luckiest mistake of our holiday.',
  ],
  ['test', 'positive', 'Every twist surprised me, and the last of them is brilliant.'],
  [
    'test',
    'positive',
    'The giant crab is gloriously silly, and I have not cheered so loudly since childhood.',
  ],
  [
    'test',
    'positive',
    'The story follows a retired postman who cycles across the country to return a single lost letter, and it is enchanting from the first mile. The landscapes are superb, the people he meets are a delight, and the last delivery is perfect.',
  ],
  ['test', 'positive', 'I have never enjoyed subtitles quite so much.'],
  ['test', 'positive', 'A truly great musical.'],
  [
    'test',
    'positive',
    'Far from the flop the papers described, this is a splendid, exciting film.',
  ],
  [
    'test',
    'negative',
    "Visually it is impressive, I won't deny that, but emotionally it is a desert and dramatically a bog.",
  ],
  ['test', 'negative', 'Slow and self-important, with lighting so bad that I squinted.'],
  ['test', 'negative', "Don't be fooled by the cast; this caper is awful."],
  ['test', 'negative', 'It lost me in the prologue and never won me back.'],
  [
    'test',
    'negative',
    'I brought my nephew for his birthday, and he asked politely whether we could go home before the cake scene. I said yes at once. It is a noisy, charmless and thoroughly cheap-looking cartoon about a skateboarding hedgehog.',
  ],
  [
    'test',
    'negative',
    'Hollow spectacle: cities fall, planets burn, and I have never been less interested in anything.',
  ],
  [
    'test',
    'negative',
    'Friends promised that I would weep at this story of a vineyard and a dying soldier. I did, a little, out of sheer boredom; the pace is slow, the symbolism is clumsy, and the ending is an outrage.',
  ],
  ['test', 'negative', 'Ninety minutes long and still too long.'],
  ['test', 'negative', 'I would call it a car crash, but people slow down to look at those.'],
  ['test', 'negative', 'Lifeless robots, lifeless humans, and a witless script.'],
];
