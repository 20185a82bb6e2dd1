export function problems(event: unknown): string[];
