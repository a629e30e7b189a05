/** What Node's single-executable build is given for a platform; its own files are in the folder `working`. */
export declare function settingsOf(platform: string, working: string): Promise<Readonly<Record<string, unknown>>>;
