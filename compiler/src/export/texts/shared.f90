! Shared by all stencils that Isobar exported, as one module of a program: several projects bring the same text.
module isobar_abi_@ABI@
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: isobar_error, isobar_message
  public :: isobar_ok, isobar_wrong_call, isobar_trap, isobar_memory, isobar_cancelled, isobar_version

  integer(c_int32_t), parameter :: isobar_ok = 0, isobar_wrong_call = 2, isobar_trap = 3, isobar_memory = 4, &
      isobar_cancelled = 5, isobar_version = 7

  ! What went wrong: `isobar_message` has it as a sentence.
  type, bind(c) :: isobar_error
    integer(c_int32_t) :: size = 0
    character(kind=c_char) :: code(8) = c_null_char
    integer(c_int32_t) :: line = 0, column = 0
    integer(c_int64_t) :: cell(3) = 0
    character(kind=c_char) :: message(512) = c_null_char
    character(kind=c_char) :: file(256) = c_null_char
  end type isobar_error

contains

  function isobar_message(error) result(text)
    type(isobar_error), intent(in) :: error
    character(len=:), allocatable :: text
    text = isobar_text(error%code) // ": " // isobar_text(error%message)
  end function isobar_message

  function isobar_text(letters) result(text)
    character(kind=c_char), intent(in) :: letters(:)
    character(len=:), allocatable :: text
    integer :: at
    text = ""
    do at = 1, size(letters)
      if (letters(at) == c_null_char) exit
      text = text // letters(at)
    end do
  end function isobar_text
end module isobar_abi_@ABI@
