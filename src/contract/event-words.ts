/** An event for people. */
export interface EventWords {
  /** Text of an event: `{name}` is a field of its data. A part in brackets is left out if a field in it is empty. */
  readonly words: string;
  /** A short text for lists, if that is not `words`. The console has it in each language. */
  readonly title?: string;
  /** Color of the words in a terminal. */
  readonly style?: 'cyan' | 'green' | 'red' | 'yellow';
}
