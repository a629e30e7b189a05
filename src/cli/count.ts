/** A number for people: "5,000". Programs get the digits alone. A server can leave out any number: that is `-`. */
export const count = (value: number): string => (typeof value === 'number' ? value.toLocaleString('en') : '-');

/** A number of things: "1 device", "5,000 devices". */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;
