! What programs leave to their caller, as one module of a program: several projects bring the same text.
module isobar_caller_1
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: isobar_event, isobar_event_name, isobar_field_name, isobar_value_name
  public :: isobar_event_callback, isobar_event_update, isobar_event_start, isobar_event_wait
  public :: isobar_exchange_scalar, isobar_exchange_vector, isobar_exchange_interface

  integer(c_int32_t), parameter :: isobar_event_callback = 0, isobar_event_update = 1, isobar_event_start = 2, &
      isobar_event_wait = 3
  integer(c_int32_t), parameter :: isobar_exchange_scalar = 0, isobar_exchange_vector = 1, isobar_exchange_interface = 2

  ! A statement that the caller carries out: the README of a project lists them by their numbers.
  type, bind(c) :: isobar_event
    integer(c_int32_t) :: size
    integer(c_int32_t) :: event, number
    integer(c_int32_t) :: kind, width
    integer(c_int32_t) :: n_fields, n_values
    type(c_ptr) :: name
    type(c_ptr) :: fields, field_names, is_written
    type(c_ptr) :: values, value_names, value_dtypes
    integer(c_int64_t) :: domain(3)
  end type isobar_event

contains

  ! The name of the callback, or of the exchange's plan.
  function isobar_event_name(event) result(text)
    type(isobar_event), intent(in) :: event
    character(len=:), allocatable :: text
    text = of_c(event%name)
  end function isobar_event_name

  ! The name of a field, from 1 on.
  function isobar_field_name(event, at) result(text)
    type(isobar_event), intent(in) :: event
    integer, intent(in) :: at
    character(len=:), allocatable :: text
    text = entry_of(event%field_names, event%n_fields, at)
  end function isobar_field_name

  ! The name of a number that the callback gives, from 1 on.
  function isobar_value_name(event, at) result(text)
    type(isobar_event), intent(in) :: event
    integer, intent(in) :: at
    character(len=:), allocatable :: text
    text = entry_of(event%value_names, event%n_values, at)
  end function isobar_value_name

  function entry_of(names, n, at) result(text)
    type(c_ptr), intent(in) :: names
    integer(c_int32_t), intent(in) :: n
    integer, intent(in) :: at
    character(len=:), allocatable :: text
    type(c_ptr), pointer :: all(:)
    text = ""
    if (at < 1 .or. at > n) return
    call c_f_pointer(names, all, [n])
    text = of_c(all(at))
  end function entry_of

  function of_c(from) result(text)
    type(c_ptr), intent(in) :: from
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: at
    text = ""
    if (.not. c_associated(from)) return
    call c_f_pointer(from, letters, [4096])
    do at = 1, 4096
      if (letters(at) == c_null_char) exit
      text = text // letters(at)
    end do
  end function of_c
end module isobar_caller_1
