//! stub
pub(crate) fn test(_filter: Option<&str>) -> anyhow::Result<()> {
    let _ = crate::install::chromium;
    let _ = crate::install::crates;
    anyhow::bail!("not yet")
}
