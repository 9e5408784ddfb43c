! Stencils that Isobar compiled. README.md says how they are called.
module @NAME@
  use, intrinsic :: iso_c_binding
  use isobar_abi_@ABI@
@CALLER@  implicit none

  interface
@INTERFACES@
  end interface
end module @NAME@
