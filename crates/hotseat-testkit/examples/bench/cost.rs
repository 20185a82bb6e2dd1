//! What the process has used so far, as the kernel counts it.

/// CPU time and bytes written, since the process began.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    /// CPU time, in the kernel's ticks of ten milliseconds.
    ticks: u64,
    /// Bytes given to `write` and its like.
    bytes: u64,
}

/// Milliseconds of a tick, the same on every Linux that is in use.
const TICK_MS: f64 = 10.0;

impl Cost {
    pub(crate) fn now() -> Self {
        let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux's account of CPU time");
        // The name, which may hold spaces, ends with the last bracket.
        let (_, after) = stat.rsplit_once(')').expect("a name in brackets");
        let field = |n: usize| after.split_whitespace().nth(n).and_then(|word| word.parse().ok());
        let ticks = field(11).zip(field(12)).map(|(user, system): (u64, u64)| user + system);
        let io = std::fs::read_to_string("/proc/self/io").expect("Linux's account of writes");
        let bytes = io.lines().find_map(|line| line.strip_prefix("wchar: ")?.parse().ok());
        Self { ticks: ticks.expect("two times"), bytes: bytes.expect("a count") }
    }

    /// Milliseconds of CPU time and bytes written since then, for each of `count` things.
    #[expect(clippy::cast_precision_loss, reason = "a few seconds of work")]
    pub(crate) fn each(self, count: usize) -> (f64, f64) {
        let now = Self::now();
        let each = |total: u64| total as f64 / count as f64;
        (each(now.ticks - self.ticks) * TICK_MS, each(now.bytes - self.bytes))
    }
}
