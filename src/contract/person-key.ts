/** By what names are equal: `userId` of a device, `userName` of a person and `username` of an account. Upper and lower case do not matter. */
export const personKey = (name: string): string => name.normalize('NFC').toLowerCase();
