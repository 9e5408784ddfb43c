module answering
  use model
  use, intrinsic :: iso_c_binding
  implicit none
  type kept_values
    real(c_double), allocatable :: values(:, :, :)
  end type kept_values
  type(kept_values) :: kept(0:7)

contains

  ! Fills halos from the opposite edge, and answers the callback `limit.halve`.
  integer(c_int32_t) function answer(user, event) bind(c)
    type(c_ptr), value :: user
    type(isobar_event), intent(in) :: event
    real(c_double), pointer :: q(:, :, :), other(:, :, :)
    real(c_float), pointer :: none(:, :, :)
    real(c_double), pointer :: c
    logical(c_bool), pointer :: go
    type(c_ptr), pointer :: values(:)
    answer = 0
    if (c_associated(user)) answer = 4
    if (event%event == isobar_event_callback) then
      if (isobar_event_name(event) /= "limit.halve" .or. isobar_field_name(event, 2) /= "other") answer = 1
      if (isobar_value_name(event, 1) /= "c" .or. isobar_value_name(event, 3) /= "") answer = 2
      call model_pointer(event, 1, q)
      call model_pointer(event, 2, other)
      if (.not. associated(q) .or. .not. associated(other)) answer = 3
      call model_pointer(event, 3, q)
      if (associated(q)) answer = 5
      if (answer /= 0) return
      call model_pointer(event, 1, q)
      other = other * 0.5_c_double
      call c_f_pointer(event%values, values, [2])
      call c_f_pointer(values(1), c)
      call c_f_pointer(values(2), go)
      c = 0.5_c_double + q(1, 1, 1) * 2.0_c_double**(-10)
      go = q(1, 1, 1) < 0
      return
    end if
    call model_pointer(event, 1, q)
    if (event%event /= isobar_event_wait) kept(event%number)%values = q
    if (event%event /= isobar_event_start) call store(event, q, kept(event%number)%values)
  end function answer

  subroutine store(event, q, from)
    type(isobar_event), intent(in) :: event
    real(c_double), intent(inout) :: q(:, :, :)
    real(c_double), intent(in) :: from(:, :, :)
    integer, parameter :: halo = 2
    integer :: i, j, w, n_i, n_j
    w = event%width
    n_i = int(event%domain(1))
    n_j = int(event%domain(2))
    do j = halo + 1 - w, halo + n_j + w
      do i = halo + 1 - w, halo + n_i + w
        if (i > halo .and. i <= halo + n_i .and. j > halo .and. j <= halo + n_j) cycle
        q(i, j, :) = from(modulo(i - halo - 1, n_i) + halo + 1, modulo(j - halo - 1, n_j) + halo + 1, :)
      end do
    end do
  end subroutine store
end module answering

