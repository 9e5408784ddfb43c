//! stub
pub(crate) fn tidy() -> anyhow::Result<()> {
    anyhow::bail!("not yet")
}
